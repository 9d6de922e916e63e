import { afterEach, beforeEach, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import { diffBlob } from "#lib/workflows/diffs/table.ts";
import { countersTable } from "#lib/workflows/lists/table.ts";
import { handler as vulnerability } from "../vulnerabilities/create.ts";
import { handler as listVulnerabilities } from "../vulnerabilities/diffs.ts";
import { handler as keepVulnerabilities } from "../vulnerabilities/keep-diff.ts";
import { handler as list } from "./diffs.ts";
import { handler as importHandler } from "./import.ts";
import { handler as keep } from "./keep-diff.ts";

const FROM = "2026-03-02";

let test: TestDeps;

beforeEach(async () => {
  test = await testDeps();
  for (const workspace of ["w", "v"])
    await call(test.deps, importHandler, {
      query: { workspace, format: "plain" },
      body: `a.${workspace}.example\nb.${workspace}.example\n`,
      headers: { "content-type": "text/plain" },
    });
});

afterEach(() => test.close());

const kept = (body: object) => call(test.deps, keep, { body: { workspace: "w", from: FROM, ...body } });

const rows = async (query: Record<string, string> = {}) => (await call(test.deps, list, { query })).json;

it.each([
  ["list of assets", list],
  ["keep of assets", keep],
  ["list of vulnerabilities", listVulnerabilities],
  ["keep of vulnerabilities", keepVulnerabilities],
])("%s requires a token", async (_name, handler) => {
  expect((await call(test.deps, handler, { token: null, body: {} })).status).toBe(401);
});

it("keeps the result of a diff when the assets change", async () => {
  const { status, json } = await kept({});
  expect([status, json.message]).toEqual([201, "Diff stored"]);
  expect(json.data).toMatchObject({
    id: 1,
    workspace_name: "w",
    total_added: 2,
    total_removed: 0,
    total_changed: 0,
    from_time: "2026-03-02T00:00:00.000Z",
    to_time: "2026-03-02T10:00:00.000Z",
    created_at: "2026-03-02T10:00:00.000Z",
  });
  await call(test.deps, importHandler, { query: { workspace: "w", format: "plain" }, body: "c.w.example\n" });
  const { data, pagination } = await rows();
  expect(pagination).toEqual({ total: 1, offset: 0, limit: 20 });
  expect(data).toEqual([json.data]);
  const told = JSON.parse(data[0].diff_data);
  expect(told.added.map(({ asset_value }: { asset_value: string }) => asset_value).toSorted()).toEqual([
    "a.w.example",
    "b.w.example",
  ]);
});

it("lists the newest first, by workspace and with pagination", async () => {
  for (const workspace of ["w", "v", "w"]) await kept({ workspace });
  const idsOf = async (query: Record<string, string>) => {
    const { data, pagination } = await rows(query);
    return [pagination.total, data.map(({ id }: { id: number }) => id)];
  };
  expect(await idsOf({})).toEqual([3, [3, 2, 1]]);
  expect(await idsOf({ workspace: "w" })).toEqual([2, [3, 1]]);
  expect(await idsOf({ workspace: "w", offset: "1", limit: "1" })).toEqual([2, [1]]);
  expect(await idsOf({ workspace: "none" })).toEqual([0, []]);
  expect((await call(test.deps, list, { query: { limit: "-1" } })).status).toBe(400);
});

it("keeps diffs of vulnerabilities separate", async () => {
  await call(test.deps, vulnerability, { body: { workspace: "w", vuln_title: "Open", severity: "high" } });
  const { json } = await call(test.deps, keepVulnerabilities, { body: { workspace: "w", from: FROM } });
  expect(json.data).toMatchObject({ id: 1, total_added: 1 });
  expect((await call(test.deps, listVulnerabilities)).json.pagination.total).toBe(1);
  expect((await rows()).pagination.total).toBe(0);
});

it.each([
  [{ from: "yesterday" }, "from: must be a time: RFC 3339, seconds, or YYYY-MM-DD[ HH:MM:SS]"],
  [{ from: "2026-03-03", to: "2026-03-02" }, "from: must not be later than to"],
  [{ workspace: "" }, "workspace: is required"],
])("rejects %j", async (body, message) => {
  const { status, json } = await kept(body);
  expect([status, json.message]).toEqual([400, message]);
});

it("keeps the newest thousand of a kind", async () => {
  await kept({});
  await test.deps.tables.update(countersTable, { pk: "diffs-assets", sk: "next" }, { set: { next: 1_000 } });
  expect((await kept({})).json.data.id).toBe(1_001);
  expect((await rows()).data.map(({ id }: { id: number }) => id)).toEqual([1_001]);
  expect(await test.deps.blobs.get(diffBlob("assets", 1))).toBeUndefined();
});
