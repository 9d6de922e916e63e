import { expect, it } from "vitest";
import * as z from "zod";
import { readLargeJson } from "./large-json.ts";
import { testService } from "./test-service.ts";

const schema = z.object({ content: z.string(), note: z.string().optional() });

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size: number) {
  const parts: Uint8Array[] = [];
  const write = (bytes: Uint8Array): void => void parts.push(Uint8Array.from(bytes));
  const body = { bytes: text.length, chunks: inPieces(text, size) };
  const value = await readLargeJson(testService, schema, body, { field: "content", write });
  return { ...value, content: Buffer.concat(parts).toString() + value.content };
}

it.each([1, 2, 3, 7, 64, 65_536, 1_000_000])("a body is read in chunks of %i bytes", async (size) => {
  for (const length of size < 64 ? [0, 5, 66_000] : [0, 5, 65_535, 65_536, 65_537, 400_000]) {
    const content = 'ab/+\t"\\'.repeat(length / 7 + 1).slice(0, length);
    const json = JSON.stringify({ note: 'ü"}{', content }).replaceAll("/", "\\/").replaceAll("+", "\\u002B");
    expect(await read(json, size)).toEqual({ note: 'ü"}{', content });
    expect(await read(` ${json} `, size)).toEqual({ note: 'ü"}{', content });
  }
});

it.each([
  ['{"content":"', "must be valid JSON"],
  [`{"content":"${"a".repeat(70_000)}`, "must be valid JSON"],
  [`{"content":"${"a".repeat(70_000)}"`, "must be valid JSON"],
  [`{"note":"${"a".repeat(70_000)}","content":""}`, "long"],
  [`["${"a".repeat(70_000)}"]`, "long"],
  [`{"content":{"content":"${"a".repeat(70_000)}"}}`, "long"],
  [`{"content":"${"a".repeat(70_000)}","note":"${"b".repeat(70_000)}"}`, "long"],
  [`{"content":"","more":[${"1,".repeat(200_000)}1]}`, "long"],
  ['{"content":7}', "content"],
])("an invalid body, or one with another long value, is refused: %.30s", async (text, message) => {
  for (const size of [1_000, 100_000])
    await expect(read(text, size)).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringContaining(message),
    });
});
