import fc from "fast-check";
import { expect, it } from "vitest";
import { DockerOutput } from "./docker.ts";

const frame = (kind: number, text: Uint8Array): Buffer => {
  const header = Buffer.alloc(8);
  header[0] = kind;
  header.writeUInt32BE(text.length, 4);
  return Buffer.concat([header, text]);
};

it("separates the two streams of a container, regardless of chunk boundaries", async () => {
  const frames = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 40 })));
  await fc.assert(
    fc.asyncProperty(frames, fc.integer({ min: 1, max: 17 }), async (sent, size) => {
      const written: Record<string, Uint8Array[]> = { stdout: [], stderr: [] };
      const output = new DockerOutput({
        write: async (kind, chunk) => void written[kind]?.push(Uint8Array.from(chunk)),
      });
      const bytes = Buffer.concat(sent.map(([kind, text]) => frame(kind, text)));
      for (let at = 0; at < bytes.length; at += size) await output.take(bytes.subarray(at, at + size));
      const textOf = (kind: number) =>
        Buffer.concat(sent.filter(([one]) => one === kind).map(([, text]) => text));
      expect(Buffer.concat(written["stdout"] ?? [])).toEqual(textOf(1));
      expect(Buffer.concat(written["stderr"] ?? [])).toEqual(textOf(2));
    }),
  );
});
