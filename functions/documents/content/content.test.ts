import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { createToken } from "#lib/documents/users/tokens.ts";
import { toHandler } from "#lib/http/handler.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import { route as create } from "../documents/create.ts";
import { route as remove } from "../documents/delete.ts";
import { route as getDocument } from "../documents/get.ts";
import { handler as get } from "./get.ts";
import { handler as patch } from "./patch.ts";

const NOWHERE = "11111111-1111-4111-8111-111111111111";

let test: TestDeps;
let other: string;
let id: string;
beforeEach(async () => {
  test = await testDeps();
  other = (await createToken(test.deps, { email: "other@example.com" })).token;
  id = await make();
});
afterEach(() => test.close());

type Who = string | null;
const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64");
const make = async (): Promise<string> =>
  (
    await call(
      test.deps,
      toHandler(create, async () => test.deps),
      { body: {} },
    )
  ).json.id;
const send = (body: unknown, headers: Record<string, string> = {}, token: Who = TEST_TOKEN, to = id) =>
  call(test.deps, patch, { params: { id: to }, body, headers, token });
const save = (bytes: Uint8Array | string, headers: Record<string, string> = {}) =>
  send({ content: base64(bytes) }, headers);
const read = (headers: Record<string, string> = {}, token: Who = TEST_TOKEN, from = id) =>
  call(test.deps, get, { params: { id: from }, headers, token });

function yjs(text = "hello"): Uint8Array {
  const doc = new Y.Doc();
  // The start of a random id may happen to be valid text.
  doc.clientID = 0xff_ff_ff_ff;
  const paragraph = new Y.XmlElement("paragraph");
  doc.getXmlFragment("document-store").insert(0, [paragraph]);
  paragraph.insert(0, [new Y.XmlText(text)]);
  return Y.encodeStateAsUpdate(doc);
}

describe("content", () => {
  it("that was never saved is empty and has no metadata", async () => {
    const { status, text, headers } = await read();
    expect([status, text]).toEqual([200, ""]);
    expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
    for (const name of ["content-length", "etag", "last-modified", "cache-control"])
      expect(headers).not.toHaveProperty(name);
  });

  it("of Yjs is returned as the base64 that was sent", async () => {
    const state = yjs();
    expect(await save(state)).toMatchObject({ status: 204, text: "" });
    const { status, text, headers } = await read();
    expect([status, text]).toEqual([200, base64(state)]);
    expect(headers).toMatchObject({
      "content-length": String(text.length),
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
      "last-modified": "Mon, 02 Mar 2026 10:00:00 GMT",
      "cache-control": "private, no-cache",
      "x-content-kind": "yjs",
      "x-content-type-options": "nosniff",
    });
  });

  it.each([
    "",
    "# Notes\n\nGrüße 世界 🙂\r\n",
    "<script>alert(1)</script>",
    " ".repeat(4258),
    "\ufeffmarked",
  ])("of text comes back byte for byte: %j", async (text) => {
    expect((await save(text)).status).toBe(204);
    const answer = await read();
    expect(answer.bytes).toEqual(Buffer.from(text));
    expect(answer.headers).toMatchObject({
      "content-length": String(Buffer.byteLength(text)),
      "x-content-kind": "plain",
    });
  });

  it("is returned unchanged for any content of any length, also with escaped JSON", async () => {
    let seed = 3;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    for (const size of [1, 2, 3, 4, 65_535, 49_152, 65_536, 65_537, 300_001, 1_000_000]) {
      const bytes = Buffer.from(Array.from({ length: size }, () => 32 + random(90)));
      const json = `{"x":"${"y".repeat(random(50))}\\"","content" : "${base64(bytes).replaceAll("/", size % 2 === 0 ? "\\/" : "\\u002f")}"}`;
      expect((await send(json)).status, `${size}`).toBe(204);
      expect((await read()).bytes.equals(bytes), `${size}`).toBe(true);
      const state = yjs("x".repeat(size));
      expect((await save(state)).status).toBe(204);
      expect((await read()).text === base64(state)).toBe(true);
    }
  });

  it.each([
    [{}, { content: ["This field is required."] }],
    ["", { content: ["This field is required."] }],
    [{ content: null }, { content: ["This field may not be null."] }],
    [{ content: 7 }, { content: ["Not a valid string."] }],
    [{ content: "no!" }, { content: ["Invalid base64 content."] }],
    [{ content: "YWJj\n" }, { content: ["Invalid base64 content."] }],
    [{ content: "YWJ" }, { content: ["Invalid base64 content."] }],
    [{ content: "YWJ=" }, { content: ["Invalid base64 content."] }],
    [{ content: "YQ==YQ==" }, { content: ["Invalid base64 content."] }],
    [{ content: "a_-b" }, { content: ["Invalid base64 content."] }],
    [{ content: "YQ==", websocket: "perhaps" }, { websocket: ["Must be a valid boolean."] }],
    [{ content: `${"A".repeat(200_000)}é` }, { content: ["Invalid base64 content."] }],
    [`{"content":"${"A".repeat(200_000)}\\u00e9"}`, { content: ["Invalid base64 content."] }],
    [{ content: base64(Buffer.from([0xff, 0xfe, 0x00])) }, "invalid yjs document"],
    [{ content: base64(yjs().subarray(0, 20)) }, "invalid yjs document"],
    // A damaged state whose bytes happen to be valid UTF-8.
    [{ content: base64(Buffer.from("\u0001\u0001\u0007\u0000\u0004\u0001\u0001t")) }, "invalid yjs document"],
    [{ content: base64(Buffer.from("a\0b")) }, "invalid yjs document"],
  ])("of %.60j is refused in words that clients know, and nothing is kept", async (body, said) => {
    expect(await send(body)).toMatchObject({ status: 400, json: said });
    expect((await read()).text).toBe("");
  });

  it.each([
    "[",
    "[1]",
    '{"content":"YQ=="',
    `{"content":"${"A".repeat(100_000)}`,
    `{"content":"${"A".repeat(100_000)}","content":"${"A".repeat(100_000)}"}`,
    `{"${"A".repeat(100_000)}":"YQ=="}`,
    `{"content":"YQ==","more":${"[".repeat(200)}${"]".repeat(200)}}`,
    `{"content":"YQ==","more":[${"1,".repeat(200_000)}1]}`,
  ])("is not taken out of a body that is none: %.40s", async (body) => {
    expect((await send(body)).status).toBe(400);
    expect((await send("{}", { "content-type": "text/html" })).status).toBe(415);
  });

  it("is accepted up to 20 MiB and rejected beyond", async () => {
    expect((await save(Buffer.alloc(20 * 1024 * 1024, "a"))).status).toBe(204);
    expect((await read()).bytes.length).toBe(20 * 1024 * 1024);
    expect((await save(Buffer.alloc(20 * 1024 * 1024 + 1, "a"))).status).toBe(413);
  });
});

describe("permissions", () => {
  it("to read or change a document apply to its content", async () => {
    await save("mine");
    expect([(await read({}, null)).status, (await send({ content: "" }, {}, null)).status]).toEqual([
      401, 401,
    ]);
    expect([(await read({}, other)).status, (await send({ content: "" }, {}, other)).status]).toEqual([
      403, 403,
    ]);
    expect([(await read({}, other, NOWHERE)).status, (await send("x", {}, other, NOWHERE)).status]).toEqual([
      404, 404,
    ]);
    await call(
      test.deps,
      toHandler(remove, async () => test.deps),
      { params: { id } },
    );
    expect((await read()).text).toBe("mine");
    expect((await save("later")).status).toBe(403);
    expect([(await read({}, other)).status, (await send({ content: "" }, {}, other)).status]).toEqual([
      404, 404,
    ]);
  });
});

describe("a conditional request", () => {
  it("returns 304 for the current entity tag or date", async () => {
    await save("known");
    const { headers } = await read();
    const [etag, date] = [headers.etag ?? "", headers["last-modified"] ?? ""];
    for (const known of [
      { "if-none-match": etag },
      { "if-none-match": `W/${etag}` },
      { "if-none-match": `"other", ${etag}` },
      { "if-none-match": "*" },
      { "if-modified-since": date },
      { "if-modified-since": "Tue, 03 Mar 2026 10:00:00 GMT" },
    ]) {
      const answer = await read(known);
      expect([answer.status, answer.text, answer.headers.etag]).toEqual([304, "", etag]);
    }
    for (const unknown of [
      { "if-none-match": '"other"' },
      { "if-none-match": '"other"', "if-modified-since": date },
      { "if-modified-since": "Mon, 02 Mar 2026 09:59:59 GMT" },
      { "if-modified-since": "yesterday" },
    ])
      expect(await read(unknown)).toMatchObject({ status: 200, text: "known" });
  });

  it("with If-Match does not overwrite changes of others", async () => {
    expect((await save("first", { "if-match": "*" })).status).toBe(412);
    await save("first");
    const etag = (await read()).headers.etag ?? "";
    expect((await save("second", { "if-match": etag })).status).toBe(204);
    expect(await save("third", { "if-match": etag })).toMatchObject({
      status: 412,
      json: { detail: "The content has changed since it was read." },
    });
    expect((await save("third", { "if-match": "*" })).status).toBe(204);
    expect((await read()).text).toBe("third");
  });

  it("fails for one of two concurrent saves", async () => {
    await save("first");
    const match = { "if-match": (await read()).headers.etag ?? "" };
    const both = await Promise.all([save("one", match), save("two", match)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([204, 412]);
  });
});

describe("a save", () => {
  it("updates the document's time, and creates no version for unchanged bytes", async () => {
    const times = [];
    for (const text of ["same", "same", "other"]) {
      test.clock.advance(1_000);
      await save(text);
      const { json } = await call(
        test.deps,
        toHandler(getDocument, async () => test.deps),
        { params: { id } },
      );
      times.push(json.updated_at);
    }
    expect(new Set(times).size).toBe(3);
    expect(times).toEqual(times.toSorted());
    expect(await test.deps.blobs.list(`documents/${id}/`)).toHaveLength(2);
  });

  it("of many at once keeps the last one, and a version of each", async () => {
    const texts = Array.from({ length: 8 }, (_, at) => `writer ${at}`);
    const saved = await Promise.all(texts.map((text) => save(text)));
    expect(saved.map(({ status }) => status)).toEqual(texts.map(() => 204));
    expect(texts).toContain((await read()).text);
  });
});
