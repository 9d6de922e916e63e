import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CommentRecord, ThreadRecord } from "../../lib/documents/threads/record.ts";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";

let dataDir: string;
let weft: TestServer;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "weft-comments-"));
  weft = await startTestServer({ dataDir });
});
afterAll(async () => {
  await weft?.[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

test("threads and comments work over the gateway and persist after kill -9", async () => {
  const send = async <Body>(method: string, path: string, body?: unknown) => {
    const options = body === undefined ? {} : { body, headers: { "content-type": "application/json" } };
    const { status, text, json } = await weft.call(method, `//api/v1.0/documents/${path}`, options);
    return { status, text, json: json as Body };
  };
  const { id } = (await send<{ id: string }>("POST", "", { title: "Talk" })).json;
  const created = await send<ThreadRecord>("POST", `${id}/threads/`, { body: [{ type: "paragraph" }] });
  expect(created.status).toBe(201);
  const thread = `${id}/threads/${created.json.id}/`;
  const comment = `${thread}comments/${created.json.comments[0]?.id}/`;
  expect(await send("POST", `${comment}reactions/`, { emoji: "👍" })).toMatchObject({
    status: 201,
    text: "",
  });
  expect(await send("POST", `${comment}reactions/`, { emoji: "👍" })).toMatchObject({
    status: 400,
    json: { user_already_reacted: true },
  });
  expect(await send("POST", `${comment}reactions/`, { emoji: "🎉" })).toMatchObject({ status: 201 });
  expect(await send("DELETE", `${comment}reactions/`, { emoji: "👍" })).toMatchObject({
    status: 204,
    text: "",
  });
  expect((await send("PATCH", comment, { body: "changed" })).status).toBe(200);
  expect((await send("POST", `${thread}comments/`, { body: "more" })).status).toBe(201);
  expect((await send("POST", `${thread}resolve/`)).status).toBe(204);
  const listed = (await send<ThreadRecord[]>("GET", `${id}/threads/`)).json;
  expect(listed).toMatchObject([
    { resolved: true, comments: [{ body: "changed", reactions: [{ emoji: "🎉" }] }, { body: "more" }] },
  ]);
  await weft.kill();
  weft = await startTestServer({ dataDir });
  expect((await send("GET", `${id}/threads/`)).json).toEqual(listed);
  const page = (await send<{ count: number; results: CommentRecord[] }>("GET", `${thread}comments/`)).json;
  expect([page.count, page.results]).toEqual([2, listed[0]?.comments]);
  expect((await send("DELETE", thread)).status).toBe(204);
  expect((await send("GET", `${id}/threads/`)).json).toEqual([]);
});
