import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emitEvent } from "../../events/emit.ts";
import { emitEvents } from "../../events/publish.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { collectPages, onTopic, readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { type AssetFilters, assetRecord, listAssets } from "./list.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const emit = (data: Record<string, unknown>, more = {}) =>
  emitEvent(test.deps, { topic: "assets.new", data, ...more });
const assets = async (filters: AssetFilters = {}) => {
  const { total, items } = await listAssets(test.deps, filters, { offset: 0, limit: 100 });
  const records = await collectPages(items);
  expect(records).toHaveLength(total);
  for (const record of records) assetRecord.parse(record);
  return records;
};

describe("an event that reports an asset", () => {
  it.each([
    [{ asset_value: "a", value: "b", url: "c", host: "d" }, "a"],
    [{ value: "b", url: "c", host: "d" }, "b"],
    [{ url: "c", host: "d" }, "c"],
    [{ host: "d" }, "d"],
    [{ asset_value: "", value: null, url: 7, host: "d" }, "d"],
  ])("identifies it by the first of its value fields: %j", async (data, value) => {
    await emit(data);
    expect(await assets()).toMatchObject([{ asset_value: value, workspace: "default", id: 1 }]);
  });

  it.each(["assets.new", "asset.discovered"])("is handled with the topic %s", async (topic) => {
    await emit({ host: "example.com" }, { topic });
    expect(await assets()).toHaveLength(1);
  });

  it.each([
    ["another topic", "assets.updated", { host: "a" }],
    ["no name", "assets.new", { title: "a" }],
    ["blank names", "assets.new", { host: "", url: " " }],
    ["a name without end", "assets.new", { host: "x".repeat(10_000) }],
  ])("creates none with %s", async (_name, topic, data) => {
    await emit(data, { topic });
    expect(await assets()).toEqual([]);
    expect((await readLog(test.deps)).total).toBe(1);
  });

  it("emits no second event, and a workflow on either spelling fires once", async () => {
    await storeWorkflow(test.deps, onTopic("one", "assets.new"));
    await storeWorkflow(test.deps, onTopic("two", "asset.discovered"));
    const answer = await emit({ host: "example.com" });
    expect(answer.triggered_workflows.toSorted()).toEqual(["one", "two"]);
    await test.drain();
    const { records } = await readLog(test.deps);
    expect(records.filter(({ topic }) => topic.startsWith("asset"))).toHaveLength(1);
    expect(await readRuns(test.deps)).toHaveLength(2);
  });

  it.each([
    ["https://example.com/a", "url"],
    ["10.0.0.1", "ip"],
    ["2001:db8::1", "ip"],
    ["owner/repository", "repo_name"],
    ["www.example.com", "domain"],
    ["something", "unknown"],
  ])("guesses the type of %s", async (value, asset_type) => {
    await emit({ value });
    expect(await assets()).toMatchObject([{ asset_type, source: "api" }]);
  });

  it("accepts long values and long workspace names", async () => {
    const url = `https://example.com/${"a".repeat(3_000)}`;
    await emit({ url, workspace: "w".repeat(1_000) });
    await emit({ url, workspace: "w".repeat(1_000) });
    await emit({ url: `${url}b`, workspace: "w".repeat(1_000) });
    expect((await assets()).map(({ asset_value }) => asset_value).toSorted()).toEqual([url, `${url}b`]);
  });
});

describe("a known asset", () => {
  it("is updated: adds new fields, ignores empty ones, and keeps its own", async () => {
    await emit({ host: "a.example", title: "old", tech: ["x"], status_code: 200, source: "scan" });
    test.clock.advance(60_000);
    await emit({
      host: "a.example",
      title: "new",
      tech: "",
      port: 443,
      id: 99,
      created_at: "never",
      pk: "evil",
    });
    expect(await assets()).toEqual([
      {
        id: 1,
        workspace: "default",
        org_uuid: "00000000-0000-0000-0000-000000000001",
        asset_value: "a.example",
        asset_type: "domain",
        source: "scan",
        host: "a.example",
        title: "new",
        tech: ["x"],
        status_code: 200,
        port: 443,
        created_at: "2026-03-02T10:00:00.000Z",
        updated_at: "2026-03-02T10:01:00.000Z",
        last_seen_at: "2026-03-02T10:01:00.000Z",
      },
    ]);
  });

  it("is a different one in another workspace, given by the event or its data", async () => {
    await emit({ host: "a" }, { workspace: "one" });
    await emit({ host: "a", workspace: "two" });
    await emit({ host: "a", workspace: "two" }, { workspace: "one" });
    expect((await assets()).map(({ workspace }) => workspace).toSorted()).toEqual(["one", "two"]);
    expect(await assets({ workspace: "two" })).toHaveLength(1);
  });

  it("may be reported several times in one commit", async () => {
    const draft = (data: Record<string, unknown>) => ({ topic: "assets.new", source: "executor", data });
    await emitEvents(test.deps, [
      draft({ host: "a", title: "first", asset_type: "thing" }),
      draft({ host: "a", port: 1 }),
      draft({ host: "b" }),
      draft({ host: "a", title: "last" }),
    ]);
    expect((await assets()).toSorted((a, b) => a.id - b.id)).toMatchObject([
      { asset_value: "a", title: "last", port: 1, asset_type: "thing" },
      { asset_value: "b" },
    ]);
    expect((await readLog(test.deps)).total).toBe(4);
  });

  it("keeps its type and source readable when an event has invalid ones", async () => {
    await emit({ host: "a.example", source: "", asset_type: 7 });
    expect(await assets()).toMatchObject([{ source: "api", asset_type: "domain" }]);
  });

  it("skips fields that are too many, too long or too deep, without rejecting the event", async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(60)}1${"}".repeat(60)}`) as unknown;
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`field${n}`, "v".repeat(5_000)]));
    await emit({ host: "a", deep, long: "x".repeat(100_000), "": "nameless", ...many });
    await emit({ host: "a", ["__proto__"]: { polluted: true }, fine: true });
    const [asset] = await assets();
    expect(asset).toMatchObject({ asset_value: "a", fine: true, field0: "v".repeat(5_000) });
    expect(asset).not.toHaveProperty("deep");
    expect(asset).not.toHaveProperty("long");
    expect(JSON.stringify(asset).length).toBeLessThan(100_000);
  });
});

it("assets are found by type, source and any part of their names", async () => {
  await emit({ url: "https://a.example/Login", title: "Sign in", source: "crawl" });
  await emit({ host: "b.example", host_ip: "10.1.2.3" });
  expect((await assets({ search: "LOGIN" })).map(({ id }) => id)).toEqual([1]);
  expect((await assets({ search: "sign" })).map(({ id }) => id)).toEqual([1]);
  expect((await assets({ search: "10.1." })).map(({ id }) => id)).toEqual([2]);
  expect((await assets({ asset_type: "domain" })).map(({ id }) => id)).toEqual([2]);
  expect((await assets({ source: "crawl", search: "b.example" })).map(({ id }) => id)).toEqual([]);
});
