import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import type { AssetRecord } from "../../lib/workflows/assets/list.ts";
import { functions } from "../../lib/workflows/script-library/library.ts";
import type { WorkspaceRecord } from "../../lib/workflows/workspaces/list.ts";

let weft: TestServer;
let guide: string;
beforeAll(async () => {
  weft = await startTestServer();
  guide = await readFile(new URL("../../docs/data.md", import.meta.url), "utf8");
  for (const [, yaml = ""] of guide.matchAll(/```yaml\n([\s\S]*?)```/g)) await weft.storeWorkflow(yaml);
});
afterAll(() => weft[Symbol.asyncDispose]());

test("the guide's workflows store assets, and each new asset triggers the second workflow once", async () => {
  for (let round = 0; round < 2; round += 1) {
    const run = await weft.run({ module: "keep-findings", target: "t", workspace: "guide" });
    expect([run.status, run.error_message]).toEqual(["completed", ""]);
  }
  const assets = await weft.get<Page<AssetRecord>>("/assets?workspace=guide");
  expect(assets.data.map(({ asset_value }) => asset_value).sort()).toEqual(["a.example", "b.example"]);
  const vulnerabilities = await weft.get<Page<{ vuln_title: string; severity: string }>>("/vulnerabilities");
  expect(vulnerabilities.data).toMatchObject([{ vuln_title: "Open door", severity: "high" }]);
  const [workspace] = (await weft.get<Page<WorkspaceRecord>>("/workspaces")).data;
  expect(workspace).toMatchObject({
    name: "guide",
    total_assets: 2,
    total_vulns: 1,
    vuln_high: 1,
    total_subdomains: 4,
  });
  const found = await weft.events({ topic: "asset.discovered" });
  expect(found).toHaveLength(2);
  const heard = await waitUntil("a run for each asset", async () => {
    const runs = await weft.get<Page<{ target: string; status: string }>>("/runs?workflow=look-closer");
    return runs.data.length === 2 && runs.data.every(({ status }) => status === "completed")
      ? runs
      : undefined;
  });
  expect(heard.data.map(({ target }) => target).sort()).toEqual(["a.example", "b.example"]);
  const artifact = await weft.call("GET", "/artifacts/guide?artifact_path=findings.jsonl");
  expect([artifact.status, artifact.headers.get("content-disposition")]).toEqual([
    200,
    "attachment; filename=\"findings.jsonl\"; filename*=UTF-8''findings.jsonl",
  ]);
  expect(artifact.text).toContain("Open door");
});

test("the guide's reports become artifacts of their run, and the log names missing files", async () => {
  const run = await weft.run({ module: "count-hosts", target: "t", workspace: "reported" });
  expect([run.status, run.error_message]).toEqual(["completed", ""]);
  const listed = await weft.get<Page<object>>("/artifacts?workspace=reported&verify_exist=true");
  expect(listed.data).toMatchObject([
    {
      run_id: run.run_id,
      artifact_path: "hosts-t.txt",
      name: "hosts of t",
      artifact_type: "report",
      content_type: "txt",
      size_bytes: 20,
      line_count: 2,
      path_exists: true,
    },
  ]);
  const file = await weft.call("GET", "/artifacts/reported?artifact_path=hosts-t.txt");
  expect([file.status, file.text]).toEqual([200, "a.example\nb.example\n"]);
});

test("the guide's HTTP requests work, and a snapshot is exported and imported over the gateway", async () => {
  const csv = await weft.call("GET", "/assets/export?workspace=guide");
  expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(csv.text.split("\r\n")).toHaveLength(4);
  const headers = { authorization: `Bearer ${weft.token}`, "content-type": "application/json" };
  const url = `${weft.url}/automation/snapshots`;
  const exported = await fetch(`${url}/export`, { method: "POST", headers, body: '{"workspace":"guide"}' });
  const zip = Buffer.from(await exported.arrayBuffer());
  expect([exported.status, zip.length]).toEqual([200, Number(exported.headers.get("x-snapshot-size"))]);
  const form = new FormData();
  form.set("file", new Blob([zip]), "guide.zip");
  const sent = { method: "POST", headers: { authorization: headers.authorization }, body: form };
  const imported = await fetch(`${url}/import?workspace=again`, sent);
  expect(await imported.json()).toMatchObject({ workspace: "again", files_count: 2, records_count: 4 });
  const type = { ...sent.headers, "content-type": "application/zip" };
  const restored = await fetch(`${url}/import?workspace=again&force=true`, {
    ...sent,
    headers: type,
    body: zip,
  });
  expect(restored.status).toBe(200);
  const copies = await weft.get<Page<AssetRecord>>("/assets?workspace=again");
  expect(copies.pagination.total).toBe(2);
  expect(
    (await weft.get<Page<unknown>>("/step-results?workspace=guide&step_type=bash")).pagination.total,
  ).toBe(2);
  expect(await weft.get("/stats")).toMatchObject({
    assets: { total: 4 },
    vulnerabilities: { total: 2, high: 2 },
  });
});

test("all functions that the guide names exist", () => {
  const named = new Set(guide.match(/\b(?:db_[a-z_]+[a-z]|register_artifact|store_artifact)\b/g));
  expect(named.size).toBeGreaterThan(12);
  named.delete("db_total");
  for (const name of named) expect(Object.keys(functions)).toContain(name);
});
