import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DocumentRecord } from "../../lib/documents/records/record.ts";
import type { ThreadRecord } from "../../lib/documents/threads/record.ts";
import {
  type Page,
  type RequestOptions,
  type TestResponse,
  type TestServer,
  waitUntil,
} from "../../lib/testing/test-server.ts";
import { browserHeaders } from "../../lib/testing/test-sessions.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import { newStack, startAwsServer } from "./test-aws.ts";

const BASE = "//api/v1.0";
const RUNBOOKS = "4b9d1f60-7c2e-4a53-9e18-6f0a2d5c8b31";
/** Update events follow 30 s after the first edit; messages of a killed server return after a similar delay. */
const UPDATED_MAX_MS = 150_000;

const REPORTING = `
name: reporting
params: [{name: parent, default: ""}]
steps:
  - name: write
    type: function
    function: 'const id = document_create("Report", "# Report", parent); document_append(id, "one"); document_append(id, "two"); document_comment(id, "written"); document_read(id)'
`;

const base64 = (text: string): string => Buffer.from(text).toString("base64");

let dataDir: string;
let weft: TestServer;
const stack = newStack();
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "weft-documents-"));
  weft = await startAwsServer(stack, dataDir);
});
afterAll(async () => {
  await weft?.[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** Kills the server and starts another one on the same AWS resources. */
async function replaceServer(): Promise<void> {
  await weft.kill();
  weft = await startAwsServer(stack, dataDir);
}

const ask = (method: string, path: string, options?: RequestOptions): Promise<TestResponse> =>
  weft.call(method, BASE + path, options);
async function request<Body>(method: string, path: string, options?: RequestOptions): Promise<Body> {
  const { status, text, json } = await ask(method, path, options);
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
  return json as Body;
}
const make = (title: string, parent?: string, more: object = {}): Promise<DocumentRecord> =>
  request("POST", parent === undefined ? "/documents/" : `/documents/${parent}/children/`, {
    body: { title, ...more },
  });
const save = (id: string, text: string, headers: Record<string, string> = {}): Promise<TestResponse> =>
  ask("PATCH", `/documents/${id}/content/`, { body: { content: base64(text) }, headers });
const titles = async (path: string): Promise<(string | null)[]> =>
  (await request<{ results: DocumentRecord[] }>("GET", path)).results.map(({ title }) => title);

test("a document tree, its permissions, contents and comments persist after each kill", async () => {
  const email = `${randomUUID()}@example.org`;
  const { token, data } = await request<{ token: string; data: { user: string } }>(
    "POST",
    "/access-tokens/",
    {
      body: { email, name: "Ada" },
    },
  );
  const root = await make("Handbook");
  const [first, second] = [await make("First", root.id), await make("Second", root.id)];
  const deep = await make("Deep", first.id);
  expect((await ask("GET", `/documents/${root.id}/`, { token })).status).toBe(403);
  await request("POST", `/documents/${first.id}/accesses/`, { body: { user_id: data.user, role: "editor" } });
  await replaceServer();

  // Descendants inherit access, until the share is removed.
  expect((await ask("GET", `/documents/${deep.id}/`, { token })).status).toBe(200);
  expect((await ask("GET", `/documents/${second.id}/`, { token })).status).toBe(403);
  expect(await save(deep.id, "one")).toMatchObject({ status: 204 });
  const { headers, text } = await ask("GET", `/documents/${deep.id}/content/`, { token });
  expect(text).toBe("one");
  const etag = headers.get("etag") ?? "";
  expect(await save(deep.id, "two", { "if-match": etag })).toMatchObject({ status: 204 });
  expect(await save(deep.id, "three", { "if-match": etag })).toMatchObject({ status: 412 });
  const thread = await request<ThreadRecord>("POST", `/documents/${deep.id}/threads/`, {
    body: { body: [{ type: "paragraph" }] },
    token,
  });
  await replaceServer();

  expect((await ask("GET", `/documents/${deep.id}/content/`)).text).toBe("two");
  const { versions } = await request<{ versions: { version_id: string }[] }>(
    "GET",
    `/documents/${deep.id}/versions/`,
  );
  expect(versions).toHaveLength(1);
  const version = await request<{ content: string }>(
    "GET",
    `/documents/${deep.id}/versions/${versions[0]?.version_id}/`,
  );
  expect(version.content).toBe(base64("one"));
  const threads = await request<ThreadRecord[]>("GET", `/documents/${deep.id}/threads/`);
  expect(threads.map(({ id }) => id)).toEqual([thread.id]);

  // Descendants move along, and access inherited from the old parent ends.
  await request("POST", `/documents/${deep.id}/move/`, {
    body: { target_document_id: second.id, position: "last-child" },
  });
  expect((await ask("GET", `/documents/${deep.id}/`, { token })).status).toBe(403);
  expect(await titles(`/documents/${second.id}/children/`)).toEqual(["Deep"]);
  expect((await ask("DELETE", `/documents/${second.id}/`)).status).toBe(204);
  await replaceServer();

  expect(await titles(`/documents/${root.id}/children/`)).toEqual(["First"]);
  expect((await ask("GET", `/documents/${deep.id}/`, { token })).status).toBe(404);
  expect(await titles("/documents/trashbin/")).toEqual(["Second"]);
  await request("POST", `/documents/${second.id}/restore/`);
  expect((await ask("POST", `/documents/${second.id}/restore/`)).status).toBe(400);
  await replaceServer();

  expect(await titles(`/documents/${root.id}/children/`)).toEqual(["First", "Second"]);
  expect((await ask("GET", `/documents/${deep.id}/content/`)).text).toBe("two");
  expect(await titles("/documents/search/?q=deep")).toEqual(["Deep"]);
  const found = await request<{ results: unknown[] }>("GET", "/documents/search/?q=deep", { token });
  expect(found.results).toEqual([]);
  const topics = (await weft.events())
    .map(({ topic }) => topic)
    .filter((topic) => !topic.endsWith(".updated"));
  expect(topics.filter((topic) => topic.startsWith("documents."))).toEqual(
    ["created", "created", "created", "created", "shared", "commented", "moved", "deleted", "restored"]
      .map((name) => `documents.${name}`)
      .reverse(),
  );
}, 300_000);

test("edits trigger workflows, which write documents, although servers are killed meanwhile", async () => {
  await weft.storeWorkflow(
    await readFile(new URL("../../examples/check-runbooks.yaml", import.meta.url), "utf8"),
  );
  await weft.storeWorkflow(REPORTING);
  await make("Runbooks", undefined, { id: RUNBOOKS });
  const [lacking, whole] = [await make("Database", RUNBOOKS), await make("Queue", RUNBOOKS)];
  expect(await save(lacking.id, "# Symptoms\nslow\n")).toMatchObject({ status: 204 });
  expect(await save(whole.id, "# Symptoms\n\n## Steps\n\n## Rollback\n")).toMatchObject({ status: 204 });
  await weft.startRun({ module: "reporting", params: { parent: RUNBOOKS } });
  await replaceServer();

  const runs = async (workflow: string): Promise<readonly RunRecord[]> =>
    (await weft.get<Page<RunRecord>>(`/runs?workflow=${workflow}&status=completed`)).data;
  const [report] = await waitUntil(
    "the report",
    async () => {
      const done = await runs("reporting");
      return done.length > 0 && done;
    },
    UPDATED_MAX_MS,
  );
  expect((await weft.steps(report?.run_id ?? ""))["write"]?.output).toBe("# Report\none\ntwo");
  expect(await titles(`/documents/${RUNBOOKS}/children/`)).toEqual(["Database", "Queue", "Report"]);
  await waitUntil(
    "the runs of all three edits",
    async () => (await runs("check-runbooks")).length === 3,
    UPDATED_MAX_MS,
  );
  const commented = await request<ThreadRecord[]>("GET", `/documents/${lacking.id}/threads/`);
  expect(JSON.stringify(commented[0]?.comments[0]?.body)).toContain("steps, rollback");
  expect(commented).toHaveLength(1);
  expect(await request("GET", `/documents/${whole.id}/threads/`)).toEqual([]);
}, 400_000);

test("a login link is used once by whichever server, and its session is known to all until it ends", async () => {
  const { url } = await request<{ url: string }>("POST", "/login-links/", { body: {} });
  const path = `/login${new URL(url).search}`;
  const open = () => fetch(`${weft.url}${path}`, { redirect: "manual" });
  const responses = await Promise.all([open(), open(), open()]);
  expect(responses.map(({ status }) => status).toSorted()).toEqual([303, 403, 403]);
  const cookies = responses.flatMap(({ headers }) => headers.getSetCookie());
  const { host: _, ...browser } = browserHeaders(cookies).unsafeHeaders;
  const token = null;
  await replaceServer();

  const headers = { ...browser, origin: weft.url };
  const me = await request<{ email: string }>("GET", "/users/me/", { token, headers });
  expect(me.email).toBe("owner@weft.local");
  expect((await weft.call("GET", "/runs", { token, headers })).status).toBe(200);
  const [session] = await request<{ id: string; is_current: boolean }[]>("GET", "/users/me/sessions/", {
    token,
    headers,
  });
  expect(session?.is_current).toBe(true);
  const end = (sent: Record<string, string>) =>
    ask("DELETE", `/users/me/sessions/${session?.id}/`, { token, headers: sent });
  expect(await end({ ...headers, "x-csrftoken": "x" })).toMatchObject({ status: 403 });
  expect(await end(headers)).toMatchObject({ status: 204 });
  await replaceServer();
  expect(await ask("GET", "/users/me/", { token, headers })).toMatchObject({ status: 401 });
}, 120_000);
