import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEmbeddedApp } from "../../lib/app/local.ts";
import type { ContentAccess } from "../../lib/documents/content/text-access.ts";
import type { DocumentRecord } from "../../lib/documents/records/record.ts";
import { handleDocumentCall } from "../../lib/documents/script-api/handle-document-call.ts";
import type { ThreadRecord } from "../../lib/documents/threads/record.ts";
import { silentLog } from "../../lib/platform/embedded/test-platform.ts";
import { readConfig } from "../../lib/settings/config.ts";
import { template } from "../../lib/testing/test-deps.ts";
import { type Page, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import type { HandleDocumentCall } from "../../lib/workflows/script-api/document-calls.ts";
import { handleScriptCall } from "../../lib/workflows/script-api/handle-script-call.ts";
import { startPlatform } from "../../localstack/platform.ts";

const TEMPLATE = fileURLToPath(new URL("../../template.yaml", import.meta.url));
const EXAMPLES = new URL("../../examples/", import.meta.url);
const TOKEN = "0123456789abcdef-documents";
const RUNBOOKS = "4b9d1f60-7c2e-4a53-9e18-6f0a2d5c8b31";

/** Texts of documents by id, in memory. */
const texts = new Map<string, string>();
const content: ContentAccess = {
  read: async (id) => texts.get(id),
  append: async (_user, id, text) => void texts.set(id, [texts.get(id) ?? [], text].flat().join("\n")),
};

let dataDir: string;
let url: string;
const closes: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "weft-documents-"));
  closes.unshift(() => rm(dataDir, { recursive: true, force: true }));
  const opened = await openEmbeddedApp({
    dataDir,
    resources: template.resources,
    log: silentLog,
    schedulerEnabled: true,
    config: readConfig({ WEFT_DATA_DIR: dataDir, WEFT_ACCESS_TOKEN: TOKEN }),
  });
  const { deps } = opened;
  const answer: HandleDocumentCall = (question, by) =>
    handleDocumentCall({ ...deps, documentContent: content }, question, by);
  Object.assign(deps, {
    handleDocumentCall: answer,
    handleScriptCall: (runId: string, query: unknown) =>
      handleScriptCall({ ...deps, handleDocumentCall: answer }, runId, query),
  });
  const root = dirname(TEMPLATE);
  const platform = await startPlatform({
    template,
    root,
    opened,
    log: silentLog,
    host: "127.0.0.1",
    port: 0,
  });
  closes.unshift(() => platform.close());
  url = platform.url;
  for (const name of ["check-runbooks", "file-report"]) {
    const yaml = await readFile(new URL(`${name}.yaml`, EXAMPLES), "utf8");
    expect(await request("POST", "/automation/workflows", yaml, "application/yaml")).toMatchObject({
      name,
      warnings: [],
    });
  }
});
afterAll(async () => {
  for (const close of closes) await close();
});

async function request<Body>(
  method: string,
  path: string,
  body?: unknown,
  type = "application/json",
): Promise<Body> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": type },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  expect([path, response.status < 300]).toEqual([path, true]);
  return (await response.json()) as Body;
}

const make = (body: object, parent?: string) =>
  request<DocumentRecord>(
    "POST",
    `/api/v1.0/documents/${parent === undefined ? "" : `${parent}/children/`}`,
    body,
  );
const runs = async (workflow: string) =>
  (await request<Page<RunRecord>>("GET", `/automation/runs?workflow=${workflow}&status=completed`)).data;
const threads = (id: string) => request<ThreadRecord[]>("GET", `/api/v1.0/documents/${id}/threads/`);
const changed = (document: DocumentRecord, parent: string | null) =>
  request("POST", "/automation/events/emit", {
    topic: "documents.updated",
    source: "documents",
    data: { document_id: document.id, title: document.title, parent_id: parent },
  });

test("check-runbooks comments only on a runbook that lacks a section", async () => {
  await make({ id: RUNBOOKS, title: "Runbooks" });
  const lacking = await make({ title: "Database" }, RUNBOOKS);
  const whole = await make({ title: "Queue" }, RUNBOOKS);
  const elsewhere = await make({ title: "Notes" });
  texts.set(lacking.id, "# Symptoms\nslow\n");
  texts.set(whole.id, "# Symptoms\n\n## Steps\n\n## Rollback\n");
  await changed(elsewhere, null);
  await changed(whole, RUNBOOKS);
  await changed(lacking, RUNBOOKS);
  await waitUntil("both runs", async () => (await runs("check-runbooks")).length === 2);
  const [thread, ...others] = await threads(lacking.id);
  expect(others).toEqual([]);
  expect(thread).toMatchObject({ creator: { full_name: "owner" } });
  expect(JSON.stringify(thread?.comments[0]?.body)).toContain("sections of these names: steps, rollback");
  expect([await threads(whole.id), await threads(elsewhere.id)]).toEqual([[], []]);
  expect(await runs("check-runbooks")).toHaveLength(2);
});

test("file-report creates a document with its text below the given document", async () => {
  const folder = await make({ title: "Reports" });
  const params = { parent: folder.id };
  await request("POST", "/automation/runs", { module: "file-report", target: "here", params });
  await waitUntil("the run", async () => (await runs("file-report")).length === 1);
  const { results } = await request<{ results: DocumentRecord[] }>(
    "GET",
    `/api/v1.0/documents/${folder.id}/children/`,
  );
  expect(results).toMatchObject([{ title: expect.stringMatching(/^Disks on \d{4}-\d\d-\d\d$/), depth: 2 }]);
  expect(texts.get(results[0]?.id ?? "")).toMatch(
    /^# Disks on .*\n\n- \/.*: \d+ of \d+ MB used\n[\s\S]*\n## Workspaces\n\n- /,
  );
});
