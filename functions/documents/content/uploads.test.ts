import { hash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isUploadAllowed } from "#lib/documents/content/upload-urls.ts";
import { CONTENT_MAX_BYTES } from "#lib/documents/tables/versions.ts";
import { createToken, revokeToken } from "#lib/documents/users/tokens.ts";
import { hashToken, ownerAuthenticator } from "#lib/http/auth.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { handler as createAccess } from "../accesses/create.ts";
import { handler as removeAccess } from "../accesses/delete.ts";
import { handler as create } from "../documents/create.ts";
import { handler as remove } from "../documents/delete.ts";
import { handler as me } from "../users/me.ts";
import { handler as versions } from "../versions/list.ts";
import { handler as begin } from "./begin-upload.ts";
import { handler as finish } from "./finish-upload.ts";
import { handler as get } from "./get.ts";
import { handler as patch } from "./patch.ts";

const NOWHERE = "11111111-1111-4111-8111-111111111111";
const MINUTE_MS = 60_000;

let test: TestDeps;
let other: string;
let id: string;
beforeEach(async () => {
  test = await testDeps();
  other = (await createToken(test.deps, { email: "other@example.com" })).token;
  id = (await call(test.deps, create, { body: {} })).json.id;
});
afterEach(() => test.close());

type Who = string | null;
const ask = (body: unknown, token: Who = TEST_TOKEN, to = id) =>
  call(test.deps, begin, {
    params: { id: to },
    body,
    token,
    path: `/api/v1.0/documents/${to}/content-uploads/`,
    headers: { host: "docs.example.org", "x-forwarded-proto": "https" },
  });
const end = (upload: string, headers: Record<string, string> = {}, token: Who = TEST_TOKEN, to = id) =>
  call(test.deps, finish, { params: { id: to, uploadId: upload }, headers, token });
const read = () => call(test.deps, get, { params: { id } });

async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}
const put = async (url: string, bytes: Uint8Array) =>
  test.uploads.find(new URL(url).pathname)?.receive(chunks(bytes));
/** Uploads content up to the finish call; returns the upload's id. */
async function sent(content: Uint8Array | string): Promise<string> {
  const bytes = Buffer.from(content);
  const { json } = await ask({ bytes: bytes.length });
  expect(await put(json.url, bytes)).toBe("stored");
  return json.id;
}
/** Sizes of the stored uploads. */
const kept = async () => {
  const infos = (await test.deps.blobs.list("uploads/")).map((key) => test.deps.blobs.head(key));
  return (await Promise.all(infos)).map((info) => info?.bytes);
};

describe("content that is uploaded directly", () => {
  it("becomes the document's content when it is finished, and emits the usual event", async () => {
    const { status, json } = await ask({ bytes: 9 });
    expect(status).toBe(201);
    expect(json).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      method: "PUT",
      url: expect.stringMatching(/^https:\/\/docs\.example\.org\/blob-uploads\/[\w-]+\.[\w-]+$/),
      headers: { "if-none-match": "*" },
      expires_at: "2026-03-02T10:15:00.000Z",
    });
    expect(await put(json.url, Buffer.from("# Grüße"))).toBe("stored");
    expect((await read()).text).toBe("");
    expect(await end(json.id)).toMatchObject({ status: 204, text: "" });
    const { text, headers } = await read();
    expect([text, headers.etag, headers["x-content-kind"]]).toEqual([
      "# Grüße",
      `"${hash("md5", "# Grüße")}"`,
      "plain",
    ]);
    expect(await kept()).toEqual([0]);
    test.clock.advance(MINUTE_MS);
    await test.tick();
    const { records } = await readLog(test.deps, { topic: "documents.updated" });
    expect(records.map(({ data }) => JSON.parse(data))).toMatchObject([
      { document_id: id, changed: ["content"] },
    ]);
  });

  it("may have the maximum size of content, and creates a version", async () => {
    await call(test.deps, patch, {
      params: { id },
      body: { content: Buffer.from("before").toString("base64") },
    });
    const large = Buffer.alloc(CONTENT_MAX_BYTES, "0123456789\n");
    expect((await end(await sent(large))).status).toBe(204);
    expect((await read()).bytes.equals(large)).toBe(true);
    expect((await call(test.deps, versions, { params: { id } })).json.versions).toHaveLength(1);
  }, 30_000);

  it("is rejected in the same cases as PATCH, and can be finished after reading others' changes", async () => {
    await call(test.deps, patch, { params: { id }, body: { content: "b25l" } });
    const before = (await read()).headers.etag ?? "";
    await call(test.deps, patch, { params: { id }, body: { content: "dHdv" } });
    const upload = await sent("three");
    expect((await end(upload, { "if-match": before })).status).toBe(412);
    expect((await read()).text).toBe("two");
    const now = (await read()).headers.etag ?? "";
    expect((await end(upload, { "if-match": now })).status).toBe(204);
    expect((await read()).text).toBe("three");
    expect(await end(NOWHERE)).toMatchObject({ status: 404, json: { detail: "Upload not found." } });

    const binary = await end(await sent(Buffer.from([255, 254, 0, 1])));
    expect([binary.status, binary.json]).toEqual([400, "invalid yjs document"]);
    expect((await read()).text).toBe("three");
  });

  it("is finished once: a repeated request overwrites nothing, and the upload accepts no more data", async () => {
    const { json } = await ask({ bytes: 3 });
    expect((await end(json.id)).status).toBe(404);
    expect(await put(json.url, Buffer.from("one"))).toBe("stored");
    expect((await end(json.id)).status).toBe(204);
    await call(test.deps, patch, { params: { id }, body: { content: "dHdv" } });
    expect((await end(json.id)).status).toBe(204);
    expect((await end(json.id, { "if-match": '"gone"' })).status).toBe(204);
    expect((await read()).text).toBe("two");
    expect(await put(json.url, Buffer.from("six"))).toBe("already stored");
    expect((await read()).text).toBe("two");
  });

  it("is complete if two requests finish it concurrently", async () => {
    const upload = await sent("one");
    const { blobs } = test.deps;
    const looked = Promise.withResolvers<void>();
    const finished = Promise.withResolvers<void>();
    const slow = {
      ...blobs,
      get: async (key: string) => {
        looked.resolve();
        await finished.promise;
        return blobs.get(key);
      },
    };
    const slower = call({ ...test.deps, blobs: slow }, finish, { params: { id, uploadId: upload } });
    await looked.promise;
    expect((await end(upload)).status).toBe(204);
    finished.resolve();
    expect((await slower).status).toBe(204);
    expect((await read()).text).toBe("one");
  });

  it("requires a valid length", async () => {
    for (const bytes of [0, -1, 1.5, CONTENT_MAX_BYTES + 1, "7", null, undefined]) {
      const { status, json } = await ask({ bytes });
      expect([bytes, status, Object.keys(json)]).toEqual([bytes, 400, ["bytes"]]);
    }
  });

  it("requires the right to change content at its start and end, and belongs to its creator", async () => {
    for (const [token, status] of [
      [other, 403],
      [null, 401],
    ] as const) {
      expect((await ask({ bytes: 3 }, token)).status).toBe(status);
      expect((await end(NOWHERE, {}, token)).status).toBe(status);
    }
    expect((await ask({ bytes: 3 }, TEST_TOKEN, NOWHERE)).status).toBe(404);
    expect((await end(NOWHERE)).status).toBe(404);
    expect((await end("../x")).status).toBe(404);
    const upload = await sent("abc");
    const elsewhere = (await call(test.deps, create, { body: {} })).json.id;
    expect((await end(upload, {}, TEST_TOKEN, elsewhere)).status).toBe(404);
    await call(test.deps, remove, { params: { id } });
    expect((await end(upload)).status).toBe(403);
    expect((await read()).text).toBe("");
  });
});

describe("the URL of an upload", () => {
  const isOpen = async (url: string): Promise<boolean> => {
    const upload = test.uploads.find(new URL(url).pathname);
    return upload !== undefined && (await test.uploads.isAllowed?.(upload)) === true;
  };
  const share = async (role: string): Promise<string> => {
    const user_id = (await call(test.deps, me, { token: other })).json.id;
    const { json } = await call(test.deps, createAccess, { params: { id }, body: { user_id, role } });
    return json.id;
  };

  it("expires when its token is revoked", async () => {
    await share("editor");
    const { token, record } = await createToken(test.deps, { email: "other@example.com" });
    const { json } = await ask({ bytes: 3 }, token);
    expect(await isOpen(json.url)).toBe(true);
    await revokeToken(test.deps, record.id);
    expect(await isOpen(json.url)).toBe(false);
  });

  it("expires when its token expires", async () => {
    await share("editor");
    const expires_at = new Date(test.clock.now() + 2 * MINUTE_MS).toISOString();
    const { token } = await createToken(test.deps, { email: "other@example.com", expires_at });
    const { json } = await ask({ bytes: 3 }, token);
    expect(json.expires_at).toBe(expires_at);
    expect(await isOpen(json.url)).toBe(true);
    test.clock.advance(2 * MINUTE_MS);
    expect(await isOpen(json.url)).toBe(false);
  });

  it("expires when its user may not edit the document any more, or the document is deleted", async () => {
    const access = await share("editor");
    const theirs = (await ask({ bytes: 3 }, other)).json.url;
    const own = (await ask({ bytes: 3 })).json.url;
    expect([await isOpen(theirs), await isOpen(own)]).toEqual([true, true]);
    await call(test.deps, removeAccess, { params: { id, accessId: access } });
    expect([await isOpen(theirs), await isOpen(own)]).toEqual([false, true]);
    await call(test.deps, remove, { params: { id } });
    expect(await isOpen(own)).toBe(false);
  });

  it("expires when the installation's own token is replaced", async () => {
    const { json } = await ask({ bytes: 3 });
    const upload = test.uploads.find(new URL(json.url).pathname);
    if (upload === undefined) throw new Error("the address is not known");
    const replaced = { ...test.deps, auth: ownerAuthenticator(hashToken("another-token-of-the-owner")) };
    expect([await isUploadAllowed(test.deps, upload), await isUploadAllowed(replaced, upload)]).toEqual([
      true,
      false,
    ]);
  });
});
