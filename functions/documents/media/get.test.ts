import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attachmentKey, attachmentsTable } from "#lib/documents/tables/attachments.ts";
import { getMedia, PDF, PNG, SVG_WITH_SCRIPT, uploadFile } from "#lib/testing/test-attachments.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole, setLink } from "#lib/testing/test-documents.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";

const TEXT = Array.from({ length: 200_000 }, (_, at) => String(at % 10)).join("");

let test: TestDeps;
let gateway: TestGateway;
let id: string;
let key: string;
beforeAll(async () => {
  test = await testDeps({ settings: { API_DOCUMENT_THROTTLE_RATE: "off" } });
  gateway = await testGateway(test);
  id = (await gateway.request("POST", "/documents/", { body: {} })).body.id;
  ({ key } = await uploadFile(gateway, id, "digits.txt", TEXT));
});
afterAll(async () => {
  await gateway.close();
  await test.close();
});

const get = (headers: Record<string, string> = {}) => getMedia(gateway, key, { headers });
const POLICY = "sandbox; default-src 'none'";

describe("GET /media/{key}", () => {
  it("streams the file with headers that let a browser run nothing in it", async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "accept-ranges": "bytes",
      "cache-control": "private, no-cache",
      "content-disposition": `attachment; filename="digits.txt"; filename*=UTF-8''digits.txt`,
      "content-length": String(TEXT.length),
      "content-security-policy": POLICY,
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
    });
    expect(await response.text()).toBe(TEXT);
  });

  it.each<readonly [string, Uint8Array | string, string, string]>([
    ["a.png", PNG, "image/png", "inline"],
    ["a.gif", PNG, "application/octet-stream", "attachment"],
    ["a.svg", SVG_WITH_SCRIPT, "application/octet-stream", "attachment"],
    ["a.html", "<html><script>alert(1)</script>", "application/octet-stream", "attachment"],
    ["a.pdf", PDF, "application/pdf", "attachment"],
  ])("serves %s safely", async (name, content, type, disposition) => {
    const { headers } = await getMedia(gateway, (await uploadFile(gateway, id, name, content)).key);
    expect(headers.get("content-type")).toBe(type);
    expect(headers.get("content-disposition")).toMatch(new RegExp(`^${disposition}; filename=`));
    expect(headers.get("content-security-policy")).toBe(POLICY);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it.each([
    ['quote"; x=y.png', `filename="quote_22__x=y.png"`],
    ["çé 文字.png", "filename*=UTF-8''%C3%A7%C3%A9%20%E6%96%87%E5%AD%97.png"],
    ["<img src=x onerror=alert(1)>.png", "filename*=UTF-8''%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E.png"],
  ])("encodes the file name %j", async (name, expected) => {
    const { headers } = await getMedia(gateway, (await uploadFile(gateway, id, name, PNG)).key);
    expect(headers.get("content-disposition")).toContain(expected);
  });

  it.each<readonly [string, string, string]>([
    ["bytes=0-0", "0", "bytes 0-0/200000"],
    ["bytes=5-8", "5678", "bytes 5-8/200000"],
    ["bytes=199998-", "89", "bytes 199998-199999/200000"],
    ["bytes=199998-999999", "89", "bytes 199998-199999/200000"],
    ["bytes=-3", "789", "bytes 199997-199999/200000"],
    ["BYTES=1-2", "12", "bytes 1-2/200000"],
  ])("answers the range %s with 206", async (range, text, contentRange) => {
    const response = await get({ range });
    expect([response.status, await response.text()]).toEqual([206, text]);
    expect(response.headers.get("content-range")).toBe(contentRange);
    expect(response.headers.get("content-length")).toBe(String(text.length));
  });

  it.each(["bytes=200000-", "bytes=999999999999-", "bytes=-0"])(
    "answers the range %s with 416",
    async (range) => {
      const response = await get({ range });
      expect([response.status, await response.text()]).toEqual([416, ""]);
      expect(response.headers.get("content-range")).toBe("bytes */200000");
    },
  );

  it.each([
    "bytes=3-1",
    "lines=1-2",
    "bytes=a-b",
    "bytes=--1",
    "bytes=0-0,2-2",
    `bytes=${"0-,".repeat(1000)}0-`,
    "bytes=99999999999999999999-",
  ])("ignores the range %s and sends the whole file", async (range) => {
    const response = await get({ range });
    expect([response.status, (await response.text()).length]).toEqual([200, TEXT.length]);
  });

  it("answers a request for what the client has with 304, and a range of something older with all", async () => {
    const { headers } = await get();
    const etag = headers.get("etag") ?? "";
    const modified = headers.get("last-modified") ?? "";
    for (const have of [
      { "if-none-match": etag },
      { "if-none-match": `"x", W/${etag}` },
      { "if-modified-since": modified },
    ]) {
      const response = await get(have as Record<string, string>);
      expect([response.status, response.headers.get("etag"), await response.text()]).toEqual([304, etag, ""]);
    }
    const part = async (since: string) => (await get({ range: "bytes=0-1", "if-range": since })).status;
    expect([await part(etag), await part(modified), await part('"older"'), await part(`W/${etag}`)]).toEqual([
      206, 206, 200, 200,
    ]);
  });

  it("answers HEAD as GET, without the content and without ranges", async () => {
    const head = (headers: Record<string, string> = {}, token: string | null = TEST_TOKEN) =>
      getMedia(gateway, key, { method: "HEAD", headers, token });
    const { headers: expected } = await get();
    const names = ["accept-ranges", "content-disposition", "content-length", "content-type", "etag"];
    for (const response of [await head(), await head({ range: "bytes=0-1" })]) {
      expect([response.status, await response.text()]).toEqual([200, ""]);
      for (const name of names) expect(response.headers.get(name)).toBe(expected.get(name));
      expect(response.headers.get("content-security-policy")).toBe(POLICY);
    }
    expect((await head({ "if-none-match": expected.get("etag") ?? "" })).status).toBe(304);
    expect((await head({}, null)).status).toBe(403);
  });

  it("refuses all who may not read a document that contains it with the same response", async () => {
    const ann = await createUser(test.deps, "ann-media");
    const as = async (token: string | null, asked = key) => {
      const response = await getMedia(gateway, asked, { token });
      return [response.status, await response.text()];
    };
    const refused = [403, '{"detail":"You do not have permission to perform this action."}'];
    expect(await as(ann.token)).toEqual(refused);
    expect(await as(null)).toEqual(refused);
    const guessed = [
      key.replace(/[0-9a-f](?=\.txt$)/, (digit) => (digit === "0" ? "1" : "0")),
      key.toUpperCase(),
      key.replace("attachments", "%61ttachments"),
      `${key}/..%2f..%2fsecrets`,
      key.replace(".txt", "-unsafe.txt"),
    ];
    for (const other of guessed) expect((await as(TEST_TOKEN, other))[0]).toBeGreaterThanOrEqual(403);
    await grantRole(test.deps, id, ann.id, "reader");
    expect((await as(ann.token))[0]).toBe(200);
    await setLink(test.deps, id, "public", "reader");
    expect((await as(null))[0]).toBe(200);
    await setLink(test.deps, id, "restricted", "reader");
    expect(await as(null)).toEqual(refused);
  });

  it("does not serve an attachment that is not ready", async () => {
    await test.deps.tables.update(attachmentsTable, attachmentKey(key), { set: { state: "processing" } });
    expect((await get()).status).toBe(403);
    const asked = await gateway.request("GET", `/documents/${id}/media-check/?key=${key}`);
    expect(asked.body).toEqual({ status: "processing" });
    await test.deps.tables.update(attachmentsTable, attachmentKey(key), { set: { state: "ready" } });
  });
});
