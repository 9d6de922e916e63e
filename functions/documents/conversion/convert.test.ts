import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConverterProcess, converterProcess } from "#lib/platform/embedded/converter/client.ts";
import type { Log } from "#lib/platform/log.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const KEY = "the-key-of-the-provider";
const TEXT = "# Title\n\n* item\n";

let converter: ConverterProcess;
let test: TestDeps;
let gateway: TestGateway;
beforeAll(async () => {
  converter = converterProcess({ log: silent });
  test = await testDeps({ settings: { Y_PROVIDER_API_KEY: KEY }, converter });
  gateway = await testGateway(test);
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await test.close();
  await converter.close();
});

const send = async (
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  authorization: string | null = `Bearer ${KEY}`,
) => {
  const response = await fetch(`${gateway.url}/api/convert/`, {
    method: "POST",
    headers: {
      "content-type": "",
      accept: "",
      ...headers,
      ...(authorization === null ? {} : { authorization }),
    },
    body: typeof body === "string" ? Buffer.from(body) : body,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    bytes,
    text: bytes.toString(),
  };
};
const to = (accept: string, type = "text/markdown") => ({ "content-type": type, accept });

describe("POST /api/convert/", () => {
  it("refuses other keys, and accepts the key with and without Bearer", async () => {
    for (const wrong of [null, "wrong", "Bearer wrong", `Bearer ${KEY}x`, "Bearer "]) {
      const { status, text } = await send(TEXT, {}, wrong);
      expect([status, JSON.parse(text)]).toEqual([401, { error: "Unauthorized: Invalid API Key" }]);
    }
    for (const right of [KEY, `Bearer ${KEY}`]) expect((await send(TEXT, {}, right)).status).toBe(200);
  }, 30_000);

  it("refuses missing and invalid content, and other types", async () => {
    const errors = async (...sent: Parameters<typeof send>) => {
      const { status, text } = await send(...sent);
      return [status, JSON.parse(text).error];
    };
    expect(await errors("")).toEqual([400, "Invalid request: missing content"]);
    expect(await errors("no update", to("text/html", "application/vnd.yjs.doc"))).toEqual([
      400,
      "Invalid content",
    ]);
    expect(await errors("{", to("text/html", "application/vnd.blocknote+json"))).toEqual([
      400,
      "Invalid content",
    ]);
    expect(await errors("{}", to("text/html", "application/vnd.blocknote+json"))).toEqual([
      400,
      "Invalid content",
    ]);
    expect(await errors("x", to("text/html", "image/png"))).toEqual([415, "Unsupported Content-Type"]);
    expect(await errors("x", to("image/png"))).toEqual([406, "Unsupported format"]);
  }, 30_000);

  const inputs = ["text/markdown", "text/x-markdown", "application/x-www-form-urlencoded"];
  const states = ["application/vnd.yjs.doc", "application/octet-stream"];
  it.each(inputs)(
    "converts %s to every format",
    async (input) => {
      for (const state of states) {
        const made = await send(TEXT, to(state, input));
        expect([made.status, made.type]).toEqual([200, state]);
        const back = await send(new Uint8Array(made.bytes), to("text/markdown", state));
        expect(back.text).toBe(TEXT);
      }
      expect((await send(TEXT, to("text/x-markdown", `${input}; charset=utf-8`))).text).toBe(TEXT);
      expect((await send(TEXT, to("text/html", input))).text).toMatch(/<h1[^>]*>Title<\/h1>/);
      for (const json of ["application/json", "application/vnd.blocknote+json"]) {
        const blocks = await send(TEXT, to(json, input));
        expect(blocks.type).toBe(json);
        expect(JSON.parse(blocks.text)).toMatchObject([{ type: "heading" }, { type: "bulletListItem" }]);
      }
    },
    30_000,
  );

  it("converts blocks and states to every format, and nothing to nothing", async () => {
    const blocks = (await send(TEXT, to("application/json"))).bytes;
    const state = (await send(TEXT, to("application/vnd.yjs.doc"))).bytes;
    for (const [type, bytes] of [
      ["application/vnd.blocknote+json", blocks] as const,
      ["application/vnd.yjs.doc", state] as const,
    ]) {
      const body = new Uint8Array(bytes);
      expect((await send(body, to("text/markdown", type))).text).toBe(TEXT);
      expect((await send(body, to("text/html", type))).text).toContain("Title");
      expect(JSON.parse((await send(body, to("application/json", type))).text)).toHaveLength(2);
      expect((await send(body, to("application/vnd.yjs.doc", type))).status).toBe(200);
    }
    const empty = await send(new Uint8Array([0, 0]), to("text/markdown", "application/vnd.yjs.doc"));
    expect([empty.status, empty.text.trim()]).toEqual([200, ""]);
  }, 30_000);
});
