import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import { onTopic, readLog, readRuns, storeWorkflow } from "#lib/testing/test-workflows.ts";
import { handler as workspaces } from "../workspaces/list.ts";
import { handler as create } from "./create.ts";
import { handler as remove } from "./delete.ts";
import { handler as get } from "./get.ts";
import { handler as list } from "./list.ts";
import { handler as summary } from "./summary.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const post = (body: Record<string, unknown>) =>
  call(test.deps, create, { body: { workspace: "w", vuln_title: "Bad", ...body } });
const listed = async (query: Record<string, string> = {}) => (await call(test.deps, list, { query })).json;
const counters = async () => (await call(test.deps, workspaces)).json.data[0];

it.each([
  ["list", list],
  ["summary", summary],
  ["get", get],
  ["delete", remove],
  ["create", create],
])("%s requires a token", async (_name, handler) => {
  expect((await call(test.deps, handler, { token: null, body: {}, params: { id: "1" } })).status).toBe(401);
});

it.each(["workspace", "vuln_title", "severity", "confidence", "finding_hash", "asset_type", "asset_value"])(
  "rejects control characters in %s",
  async (field) => {
    const { status, json } = await post({ [field]: "a\u009bb" });
    expect([status, json.message]).toEqual([400, `${field}: must not contain control characters`]);
    expect((await listed()).pagination.total).toBe(0);
  },
);

it("creates, reads, counts and deletes a vulnerability, and publishes it once", async () => {
  await storeWorkflow(test.deps, onTopic("heard", "vuln.found"));
  const made = await post({
    severity: "Critical",
    asset_value: "https://a.example",
    id: 99,
    created_at: "never",
  });
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({
    message: "Vulnerability created successfully",
    data: {
      id: 1,
      workspace: "w",
      severity: "critical",
      vuln_title: "Bad",
      created_at: "2026-03-02T10:00:00.000Z",
    },
  });
  expect((await call(test.deps, get, { params: { id: "1" } })).json.data).toEqual(made.json.data);
  expect(await counters()).toMatchObject({ name: "w", total_vulns: 1, vuln_critical: 1 });
  await test.drain();
  expect((await readLog(test.deps, { topic: "vuln.found" })).total).toBe(1);
  expect(await readRuns(test.deps)).toHaveLength(1);
  expect((await call(test.deps, remove, { params: { id: "1" } })).json).toEqual({
    message: "Vulnerability deleted successfully",
  });
  expect((await call(test.deps, get, { params: { id: "1" } })).status).toBe(404);
  expect((await call(test.deps, remove, { params: { id: "1" } })).status).toBe(404);
  expect(await listed()).toMatchObject({ data: [], pagination: { total: 0 } });
  expect(await counters()).toMatchObject({ total_vulns: 0, vuln_critical: 0 });
});

it("updates a vulnerability that is reported again, and counts it by its current severity", async () => {
  await post({ severity: "low", finding_hash: "h" });
  const again = await post({ severity: "high", finding_hash: "h", vuln_title: "Worse" });
  expect(again.json.data).toMatchObject({ id: 1, severity: "high", vuln_title: "Worse" });
  expect(await counters()).toMatchObject({ total_vulns: 1, vuln_low: 0, vuln_high: 1 });
  expect((await readLog(test.deps, { topic: "vuln.found" })).total).toBe(1);
  await test.drain();
  expect((await listed({ severity: "HIGH" })).pagination.total).toBe(1);
  expect((await call(test.deps, remove, { params: { id: "1" } })).status).toBe(200);
  expect((await post({ finding_hash: "h" })).json.data.id).toBe(2);
});

it("filters by the exact value of each field, indexed or not", async () => {
  const severities = ["critical", "high", "low", "odd"];
  for (let n = 0; n < 12; n += 1) {
    await post({
      workspace: `w${n % 2}`,
      severity: severities[n % 4],
      confidence: n < 3 ? "Certain" : "Tentative",
      asset_value: `https://host-${n}.example`,
    });
    if (n === 6) await test.drain();
  }
  for (let round = 0; round < 2; round += 1) {
    expect((await listed({ workspace: "w0" })).pagination.total).toBe(6);
    expect((await listed({ severity: "critical", workspace: "w0" })).pagination.total).toBe(3);
    expect((await listed({ confidence: "Certain" })).pagination.total).toBe(3);
    expect((await listed({ asset_value: "HOST-1" })).pagination.total).toBe(3);
    expect((await listed({ offset: "10", limit: "5" })).data.map(({ id }: { id: number }) => id)).toEqual([
      2, 1,
    ]);
    expect((await call(test.deps, summary, { query: { workspace: "w1" } })).json.data).toEqual({
      by_severity: { critical: 0, high: 3, medium: 0, low: 0, info: 0, other: 3 },
      total: 6,
      workspace: "w1",
    });
    await test.drain();
  }
});

describe("rejects", () => {
  it.each([
    [{ workspace: "" }, "workspace: Workspace is required"],
    [{ vuln_title: "" }, "vuln_title: must not be empty"],
    [{ vuln_title: "x".repeat(20_000) }, "vuln_title: "],
    [{ tags: "a" }, "tags: "],
  ])("%j", async (body, message) => {
    const { status, json } = await post(body);
    expect(status).toBe(400);
    expect(json.message).toContain(message);
  });

  it.each(["0", "x", "-1", "1e3", "99999999999999999999", "1/../2"])("the id %s", async (id) => {
    const { status, json } = await call(test.deps, get, { params: { id } });
    expect([status, json.message]).toEqual([400, "path.id: Invalid vulnerability ID"]);
  });

  it("an unknown organization", async () => {
    expect((await call(test.deps, list, { query: { org: "x" } })).status).toBe(400);
  });
});
