import { afterEach, beforeEach, expect, it } from "vitest";
import { eventTailTable, tailPartitions } from "#lib/events/log/table.ts";
import { readAll } from "#lib/events/read-all.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { listEntriesTable, listPartitions } from "#lib/workflows/lists/table.ts";
import { handler as importHandler } from "./import.ts";
import { handler as listHandler } from "./list.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const MANY = 130;

const list = async (query: Record<string, string> = {}) => {
  const { status, json } = await call(test.deps, listHandler, { query });
  expect(status).toBe(200);
  return json as {
    data: { id: number; asset_value: string; status_code?: number }[];
    pagination: { total: number };
  };
};
const values = async (query: Record<string, string>): Promise<string[]> =>
  (await list(query)).data.map(({ asset_value }) => asset_value);

async function imported(prefix: string, count: number, status = (_at: number): number => 200): Promise<void> {
  const lines = Array.from({ length: count }, (_, at) =>
    JSON.stringify({ url: `https://${prefix}-${at}.example`, input: "x", status_code: status(at) }),
  );
  const query = { workspace: "w", format: "httpx" };
  expect((await call(test.deps, importHandler, { query, body: lines.join("\n") })).status).toBe(200);
}

/** All pages of 20, concatenated. */
async function paged(total: number): Promise<string[]> {
  const found: string[] = [];
  for (let offset = 0; offset < total; offset += 20) {
    const { data, pagination } = await list({ offset: String(offset), limit: "20" });
    expect(pagination.total).toBe(total);
    found.push(...data.map(({ asset_value }) => asset_value));
  }
  return found;
}

async function waiting(): Promise<number> {
  const marks = listPartitions("assets", "pending").map((pk) => readAll(test.deps, listEntriesTable, { pk }));
  const tail = tailPartitions("tail").map((pk) => readAll(test.deps, eventTailTable, { pk }));
  return (await Promise.all([...marks, ...tail])).flat().length;
}

it("lists assets of one commit once each in every filter, before and after they are indexed", async () => {
  await imported("a", MANY, (at) => (at % 2 === 0 ? 200 : 404));
  const few = MANY / 10;
  expect(await waiting()).toBeLessThan(few);
  for (const indexed of [false, true]) {
    if (indexed) await test.drain();
    const all = await paged(MANY);
    expect(new Set(all).size).toBe(MANY);
    expect((await list({ status_code: "404" })).pagination.total).toBe(MANY / 2);
    expect(await values({ search: "A-12.", limit: "100" })).toEqual(["https://a-12.example"]);
    const { total, records } = await readLog(test.deps, { topic: "asset.discovered" });
    expect(total).toBe(MANY);
    expect(new Set(records.map(({ event_id }) => event_id)).size).toBe(records.length);
  }
  expect(await waiting()).toBe(0);
});

it("finds an asset that changes before it is indexed by its new values", async () => {
  await imported("a", 30);
  await imported("a", 10, () => 500);
  expect((await list()).pagination.total).toBe(30);
  await test.drain();
  expect((await list({ status_code: "500" })).pagination.total).toBe(10);
  expect((await list({ status_code: "200" })).pagination.total).toBe(20);
  expect((await readLog(test.deps, { topic: "asset.updated" })).total).toBe(10);
  expect(await waiting()).toBe(0);
});

it("pages continue at their position when assets are added, indexed or not", async () => {
  await imported("old", 60);
  await test.drain();
  const before = await paged(60);
  for (const round of [1, 2, 3]) {
    await imported(`new-${round}`, 10);
    if (round === 2) await test.drain();
    const total = 60 + round * 10;
    const all = await paged(total);
    expect(all.slice(total - 60)).toEqual(before);
    expect(new Set(all).size).toBe(total);
  }
});
