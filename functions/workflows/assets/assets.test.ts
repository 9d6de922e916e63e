import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import type { RequestParts } from "#lib/testing/test-requests.ts";
import { onTopic, readLog, readRuns, storeWorkflow } from "#lib/testing/test-workflows.ts";
import { toCell } from "#lib/workflows/assets/export.ts";
import { handler as listVulnerabilities } from "../vulnerabilities/list.ts";
import { handler as listWorkspaces } from "../workspaces/list.ts";
import { handler as diffHandler } from "./diff.ts";
import { handler as exportHandler } from "./export.ts";
import { handler as importHandler } from "./import.ts";
import { handler as listHandler } from "./list.ts";
import { handler as statsHandler } from "./stats.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const list = async (query: Record<string, string> = {}) =>
  (await call(test.deps, listHandler, { query: { limit: "1000", ...query } })).json;
const imported = (body: string, query: Record<string, string> = {}, more: RequestParts = {}) =>
  call(test.deps, importHandler, { body, query: { workspace: "w", ...query }, ...more });

const HTTPX = [
  {
    url: "https://a.example",
    input: "a.example",
    status_code: 200,
    title: "A",
    tech: ["nginx"],
    host: "10.0.0.1",
    a: ["10.0.0.1"],
    cdn: true,
    body: "secret",
  },
  { url: "https://b.example", input: "b.example", status_code: 404, title: "B", tech: ["php", "nginx"] },
];
const NUCLEI = {
  "template-id": "cve-1",
  "matcher-name": "one",
  info: { name: "Bad thing", severity: "HIGH", tags: "cve,rce", description: "very bad" },
  type: "http",
  host: "c.example",
  "matched-at": "https://c.example/x",
};
const lines = (...values: unknown[]) => values.map((value) => JSON.stringify(value)).join("\n");

it.each([
  ["list", listHandler],
  ["import", importHandler],
  ["export", exportHandler],
  ["stats", statsHandler],
])("%s requires a token", async (_name, handler) => {
  expect((await call(test.deps, handler, { token: null, body: "x" })).status).toBe(401);
});

describe("an import", () => {
  it("reads the fields of httpx for each asset", async () => {
    const { status, json } = await imported(lines(...HTTPX, { failed: true, url: "https://x.example" }));
    expect(status).toBe(200);
    expect(json).toMatchObject({
      format: "httpx",
      lines: 3,
      assets: { discovered: 2, updated: 0, unchanged: 0 },
      skipped: 1,
      errors: [{ line: 3, message: "the probe failed" }],
    });
    const { data } = await list({ search: "a.example" });
    expect(data).toMatchObject([
      {
        asset_value: "https://a.example",
        asset_type: "url",
        workspace: "w",
        source: "httpx",
        status_code: 200,
        host_ip: "10.0.0.1",
        dns_records: ["10.0.0.1"],
        is_cdn: true,
        tech: ["nginx"],
      },
    ]);
    expect(data[0]).not.toHaveProperty("body");
  });

  it("reads nuclei: the hosts and their vulnerabilities", async () => {
    const { json } = await imported(lines(NUCLEI, { ...NUCLEI, "matcher-name": "two" }, NUCLEI));
    expect(json).toMatchObject({
      format: "nuclei",
      assets: { discovered: 1 },
      vulnerabilities: { found: 2, known: 1 },
    });
    const { json: found } = await call(test.deps, listVulnerabilities, { query: { severity: "high" } });
    expect(found).toMatchObject({
      data: [
        {
          vuln_title: "Bad thing",
          severity: "high",
          asset_value: "https://c.example/x",
          tags: ["cve", "rce"],
        },
        {},
      ],
      pagination: { total: 2 },
    });
    const { records } = await readLog(test.deps, { topic: "vuln.found" });
    expect(records).toHaveLength(2);
    expect(JSON.parse(records[0]?.data ?? "")).toMatchObject({ severity: "high", workspace: "w" });
  });

  it("reads plain lists, skipping blank lines and comments, with any line ending", async () => {
    const { json } = await imported("\uFEFFa.example\r\n\r\n# no\r\n10.0.0.1\r\nhttps://a.example/x", {});
    expect(json).toMatchObject({ format: "plain", lines: 3, assets: { discovered: 3 }, skipped: 0 });
    expect((await list()).data.map(({ asset_type }: { asset_type: string }) => asset_type).sort()).toEqual([
      "domain",
      "ip",
      "url",
    ]);
  });

  it("changes and emits nothing when repeated; a change is emitted once", async () => {
    await storeWorkflow(test.deps, onTopic("new", "assets.new"));
    await storeWorkflow(test.deps, onTopic("changed", "assets.updated"));
    await imported(lines(...HTTPX));
    test.clock.advance(1_000);
    expect((await imported(lines(...HTTPX))).json.assets).toEqual({
      discovered: 0,
      updated: 0,
      unchanged: 2,
    });
    test.clock.advance(1_000);
    const [first, second] = HTTPX;
    expect((await imported(lines({ ...first, title: "A2" }, second))).json.assets).toEqual({
      discovered: 0,
      updated: 1,
      unchanged: 1,
    });
    await test.drain();
    const { records } = await readLog(test.deps);
    const topics = records.map(({ topic }) => topic).filter((topic) => topic.startsWith("asset"));
    expect(topics.sort()).toEqual(["asset.discovered", "asset.discovered", "asset.updated"]);
    expect((await readRuns(test.deps)).map(({ workflow_name }) => workflow_name).sort()).toEqual([
      "changed",
      "new",
      "new",
    ]);
    const { data } = await list({ search: "a2" });
    expect(data).toMatchObject([
      { created_at: "2026-03-02T10:00:00.000Z", updated_at: "2026-03-02T10:00:02.000Z" },
    ]);
    const unchanged = (await list({ search: "b.example" })).data[0];
    expect(unchanged).toMatchObject({
      updated_at: "2026-03-02T10:00:00.000Z",
      last_seen_at: "2026-03-02T10:00:02.000Z",
    });
  });

  it("of many assets with duplicates counts and lists each once, at any offset", async () => {
    const values = Array.from({ length: 700 }, (_, n) => `h${n}.example`);
    const { json } = await imported([...values, ...values.slice(0, 100)].join("\n"));
    expect(json.assets).toEqual({ discovered: 700, updated: 0, unchanged: 100 });
    const before = await list({ limit: "5", offset: "650" });
    expect(before.pagination.total).toBe(700);
    expect(before.data).toHaveLength(5);
    await test.drain();
    const seen = new Set<string>();
    for (let offset = 0; offset < 700; offset += 100)
      for (const { asset_value } of (await list({ limit: "100", offset: String(offset) })).data)
        seen.add(asset_value);
    expect([...seen].sort()).toEqual(values.sort());
    expect((await list({ workspace: "other" })).pagination.total).toBe(0);
    const { json: spaces } = await call(test.deps, listWorkspaces);
    expect(spaces).toMatchObject({ data: [{ name: "w", total_assets: 700 }], pagination: { total: 1 } });
  });

  it.each([
    ["an empty body", "", {}, 400, "body: must have at least one line"],
    [
      "a format that is none",
      "x",
      { format: "xml" },
      400,
      "query.format: must be one of httpx, nuclei, jsonl, plain",
    ],
    ["too many lines", "x\n".repeat(100_001), {}, 413, "body: must have at most 100000 lines"],
    ["a body that is too large", "x".repeat(5_000_000), {}, 413, "body: must be at most 4194304 bytes"],
    [
      "a line that is too long",
      "x".repeat(1_100_000),
      {},
      400,
      "body: line 1 must have at most 1048576 characters",
    ],
  ])("rejects %s", async (_name, body, query, status, message) => {
    const answer = await imported(body, query);
    expect([answer.status, answer.json]).toEqual([status, { error: true, message }]);
    expect((await list()).pagination.total).toBe(0);
  });

  it.each(["workspace", "source"])("rejects control characters in the %s of an import", async (field) => {
    const { status, json } = await imported("a.example", { [field]: "a\u001bb" });
    expect([status, json.message]).toEqual([400, `query.${field}: must not contain control characters`]);
    expect((await list()).pagination.total).toBe(0);
  });

  it("skips labels with control characters, and lines whose asset contains one", async () => {
    const { json } = await imported(
      lines({ url: "https://a.example", title: "\u001b[31mA", tech: ["x"] }, { url: "b\u0007.example" }),
    );
    expect(json).toMatchObject({ assets: { discovered: 1 }, skipped: 1 });
    const { data } = await list();
    expect(data).toMatchObject([{ asset_value: "https://a.example", tech: ["x"] }]);
    expect(data[0]).not.toHaveProperty("title");
  });

  it("reports invalid lines and imports the others", async () => {
    const { json } = await imported(
      `{"host":"a"}\n{"host":\n[]\n{"title":"no name"}\n{"__proto__":{"x":1},"host":"b"}`,
    );
    expect(json).toMatchObject({ format: "jsonl", assets: { discovered: 2 }, skipped: 3 });
    expect(json.errors.map(({ line }: { line: number }) => line)).toEqual([2, 3, 4]);
  });
});

it("assets are filtered by status and organization; an unknown organization is rejected", async () => {
  await imported(lines(...HTTPX));
  expect((await list({ status_code: "404" })).data).toMatchObject([{ title: "B" }]);
  expect((await list({ org: "default" })).pagination.total).toBe(2);
  const { status, json } = await call(test.deps, listHandler, { query: { org: "acme" } });
  expect([status, json.message]).toEqual([400, "query.org: unknown organisation"]);
});

it("stats list each distinct value of a workspace", async () => {
  await imported(lines(...HTTPX, { ...HTTPX[0], url: "https://c.example", remarks: ["look"] }));
  await imported("d.example", { workspace: "other" });
  const stats = async (query = {}) => (await call(test.deps, statsHandler, { query })).json.data;
  expect(await stats({ workspace: "w" })).toEqual({
    technologies: ["nginx", "php"],
    sources: ["httpx"],
    remarks: ["look"],
    asset_types: ["url"],
  });
  expect((await stats()).asset_types).toEqual(["domain", "url"]);
});

describe("a diff", () => {
  const diff = async (query: Record<string, string>) =>
    call(test.deps, diffHandler, { query: { workspace: "w", ...query } });

  it("lists what was added, changed and removed between two times", async () => {
    await imported(lines(...HTTPX, { url: "https://gone.example", input: "x" }));
    test.clock.advance(3_600_000);
    const [first, second] = HTTPX;
    await imported(lines({ ...first, title: "new" }, second, { url: "https://c.example", input: "c" }));
    const from = "2026-03-02T10:30:00Z";
    const { data } = (await diff({ from })).json;
    expect(data).toMatchObject({
      workspace_name: "w",
      from_time: "2026-03-02T10:30:00.000Z",
      to_time: "2026-03-02T11:00:00.000Z",
      added: [{ asset_value: "https://c.example" }],
      changed: [{ title: "new" }],
      removed: [{ asset_value: "https://gone.example" }],
      truncated: false,
      summary: { total_added: 1, total_removed: 1, total_changed: 1 },
    });
    expect((await diff({ from: "2026-03-02", to: "2026-03-02 10:30:00" })).json.data.summary).toEqual({
      total_added: 3,
      total_removed: 0,
      total_changed: 0,
    });
    expect((await diff({ from: String(Date.parse(from) / 1000), to: "" })).json.data).toEqual(data);
    expect((await diff({ from: "2026-03-02T11:30:00+01:00" })).json.data).toEqual(data);
  });

  it.each(["", "yesterday", "2026-02-31", "2026-13-01", "2026-03-02T25:00:00", "1e5", "-1"])(
    "rejects the time %j",
    async (from) => {
      const { status, json } = await diff({ from });
      expect([status, json.message]).toEqual([
        400,
        "query.from: must be a time: RFC 3339, seconds, or YYYY-MM-DD[ HH:MM:SS]",
      ]);
    },
  );

  it("requires increasing times, and a start time", async () => {
    expect((await diff({ from: "2026-03-03", to: "2026-03-02" })).status).toBe(400);
    expect((await call(test.deps, diffHandler, { query: { from: "2026-03-03" } })).status).toBe(400);
    expect((await diff({})).json.message).toBe("query.from: is required");
  });
});

describe("an export", () => {
  it("is CSV of the matching assets, sent as an attachment", async () => {
    await imported(lines({ ...HTTPX[0], title: 'say "hi", now\nagain' }, HTTPX[1]));
    const { status, headers, text } = await call(test.deps, exportHandler, {
      query: { workspace: "w", status_code: "200" },
    });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": "attachment; filename=\"assets-w.csv\"; filename*=UTF-8''assets-w.csv",
    });
    const rows = text.split("\r\n");
    expect(rows[0]).toMatch(/^id,workspace,asset_value,/);
    expect(rows[1]).toContain('"https://a.example","url","https://a.example","say ""hi"", now\nagain",200');
    expect(rows).toHaveLength(3);
  });

  it.each(["=HYPERLINK(1)", "+cmd|' /C calc'!A0", "-1+1", "@SUM(1)", "\t=1", "\r=1", "  =1", "＝1"])(
    "escapes the formula %j",
    async (title) => {
      expect(toCell(title)).toBe(`"'${title.replaceAll('"', '""')}"`);
      await imported(lines({ host: "a", title }));
      expect((await call(test.deps, exportHandler)).text).toContain(`"'${title}"`);
    },
  );

  it("has a safe file name for any workspace name", async () => {
    const { headers } = await call(test.deps, exportHandler, { query: { workspace: '"\r\nx: y/é' } });
    expect(headers["content-disposition"]).toBe(
      "attachment; filename=\"assets-___x__y__.csv\"; filename*=UTF-8''assets-%22%0D%0Ax%3A%20y%2F%C3%A9.csv",
    );
  });
});
