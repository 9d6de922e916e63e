import { afterEach, beforeEach, expect, it } from "vitest";
import type { EmbeddedPlatform } from "../platform/embedded/platform.ts";
import { openForTest, temporaryFolder } from "../platform/embedded/test-platform.ts";
import { clearOldest } from "./clear-oldest.ts";
import { RankedIndex } from "./ranked-index.ts";
import { emptyHead, rankedIndexTable } from "./table.ts";
import type { Filter } from "./view.ts";

const RESOURCES = { tables: [rankedIndexTable], queues: [], rules: [], schedules: [] };
const NAME = "list";
/** Merges often, so that a few records reach every code path. */
const OFTEN = { mergeRows: 7, mergeDeltas: 3 };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let platform: EmbeddedPlatform;
beforeEach(async () => {
  folder = await temporaryFolder();
  platform = await openForTest(folder.path, RESOURCES);
});
afterEach(async () => {
  await platform.close();
  await folder.remove();
});

const open = (): RankedIndex => new RankedIndex(platform.ports, NAME, OFTEN);
const takeAll = async (index: RankedIndex, keys: readonly string[]): Promise<void> => {
  for (const key of keys)
    await index.take({
      entries: [{ key, fields: { side: Number(key) % 2 === 0 ? "even" : "odd" }, text: key }],
    });
};
const keysOf = async (index: RankedIndex, filters: readonly Filter[] = []): Promise<string[]> => {
  const view = await index.view(filters);
  const found = await view.page({ offset: 0, limit: 1_000 });
  expect(found).toHaveLength(view.total);
  return found.map(({ key }) => key).reverse();
};
const upTo = (count: number, from = 0): string[] =>
  Array.from({ length: count - from }, (_, at) => String(from + at));

/** Removes all records whose key is below a number. */
const clear = (index: RankedIndex, below: number, removed: string[], most = 1_000): Promise<number> =>
  clearOldest(
    platform.ports,
    {
      name: NAME,
      index,
      judge: async (keys) => {
        const stays = keys.findIndex((key) => Number(key) >= below);
        return { count: stays < 0 ? keys.length : stays };
      },
      remove: async (keys) => {
        removed.push(...keys);
      },
    },
    most,
  );

it("removes the oldest records, in blocks or not, for all readers", async () => {
  const [index, other] = [open(), open()];
  await takeAll(index, upTo(40));
  expect(await keysOf(other)).toHaveLength(40);
  const removed: string[] = [];
  expect(await clear(index, 13, removed)).toBe(13);
  expect(removed).toEqual(upTo(13));
  for (const reader of [index, other, open()]) {
    expect(await keysOf(reader)).toEqual(upTo(40, 13));
    expect(await keysOf(reader, [{ field: "side", value: "even" }])).toEqual(
      upTo(40, 13).filter((key) => Number(key) % 2 === 0),
    );
    expect(await keysOf(reader, [{ field: "side", value: "even", negated: true }])).toHaveLength(14);
    expect(await keysOf(reader, [{ contains: "3" }])).toEqual(
      upTo(40, 13).filter((key) => key.includes("3")),
    );
  }
  expect(await clear(other, 100, removed)).toBe(27);
  expect([await keysOf(index), await index.last()]).toEqual([[], 40]);
  await takeAll(other, upTo(42, 40));
  expect(await keysOf(index)).toEqual(["40", "41"]);
  expect(await index.last()).toBe(42);
});

it("adds removed records again with a new number", async () => {
  const index = open();
  await takeAll(index, upTo(3));
  await clear(index, 2, []);
  const [taken] = (await index.take({ entries: [{ key: "0", fields: { side: "even" } }] })) ?? [];
  expect(taken).toEqual({ key: "0", number: 4, added: true });
  expect(await keysOf(index)).toEqual(["2", "0"]);
  expect(await (await index.view([])).keysAfter(0)).toEqual(["2", "0"]);
});

it("continues after an interruption", async () => {
  const index = open();
  await takeAll(index, upTo(20));
  const dies = clearOldest(
    platform.ports,
    {
      name: NAME,
      index,
      judge: async () => ({ count: 5 }),
      remove: () => Promise.reject(new Error("dies")),
    },
    5,
  );
  await expect(dies).rejects.toThrow("dies");
  expect(await keysOf(open())).toEqual(upTo(20, 5));
  const removed: string[] = [];
  expect(await clear(open(), 0, removed)).toBe(0);
  expect(removed).toEqual(upTo(5));
});

it("deletes the blocks of empty segments", async () => {
  const before = 65_530;
  const head = { ...emptyHead(NAME), version: 1, last: before, merged: before, low: before };
  await platform.ports.tables.write([{ op: "put", table: rankedIndexTable, item: head }]);
  const index = open();
  await takeAll(index, upTo(30));
  const blocks = async () =>
    (await platform.ports.tables.query(rankedIndexTable, { pk: `${NAME}#0` })).items.length;
  expect(await blocks()).toBeGreaterThan(0);
  await clear(index, 5, []);
  expect(await blocks()).toBeGreaterThan(0);
  await clear(index, 7, []);
  expect(await blocks()).toBe(0);
  expect(await keysOf(open())).toEqual(upTo(30, 7));
  expect(await keysOf(open(), [{ contains: "1" }])).toHaveLength(11);
});
