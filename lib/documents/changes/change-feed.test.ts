import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { relationKey, relationsTable } from "../tables/accesses.ts";
import { CHANGE_COUNTS, changesTable, countsTable, SHARDS } from "../tables/changes.ts";
import { ChangeFeed, changeTables } from "./change-feed.ts";
import { withChangeRow } from "./change-log.ts";

const MINUTE_MS = 60_000;

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const writesOf = (document: string) =>
  withChangeRow(test.deps, [
    {
      op: "update",
      table: relationsTable,
      key: relationKey("somebody", document),
      change: { set: { document, trace: true } },
    },
  ]);
const change = (document: string) => test.deps.tables.write(writesOf(document));
const told = async (feed: ChangeFeed) => {
  const { isReset: isAnew, rows } = await feed.read(changeTables(test.deps));
  const documents = rows.flatMap(({ relations }) => relations.map(([, document]) => document));
  return isAnew ? "anew" : documents.toSorted();
};
/** A feed that has started. */
async function begun(): Promise<ChangeFeed> {
  const feed = new ChangeFeed();
  expect(await told(feed)).toBe("anew");
  return feed;
}
const range = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => String(at).padStart(4, "0"));

describe("the change feed", () => {
  it("reports each change once to every reader, also with concurrent writers", async () => {
    await change("before");
    const feeds = [await begun(), await begun()];
    const written = range(60);
    await Promise.all(written.map(change));
    for (const feed of feeds) expect(await told(feed)).toEqual(written);
    for (const feed of feeds) expect(await told(feed)).toEqual([]);
    await change("after");
    for (const feed of feeds) expect(await told(feed)).toEqual(["after"]);
  });

  it("reports transactions that started long before those that were already read", async () => {
    const feed = await begun();
    const late = SHARDS.flatMap((_, number) => range(3).map((at) => writesOf(`late ${number} ${at}`)));
    test.clock.advance(MINUTE_MS);
    for (const document of range(60)) await change(document);
    expect(await told(feed)).toHaveLength(60);
    for (const writes of late) await test.deps.tables.write(writes);
    expect(await told(feed)).toHaveLength(late.length);
    expect(await told(feed)).toEqual([]);
  });

  it("restarts if a row was deleted before it was read, and continues from there", async () => {
    const feed = await begun();
    const missed = range(40);
    for (const document of missed) await change(document);
    for (const pk of SHARDS) {
      const { items } = await test.deps.tables.query(changesTable, { pk });
      for (const { sk } of items)
        await test.deps.tables.write([{ op: "delete", table: changesTable, key: { pk, sk } }]);
    }
    expect(await told(feed)).toBe("anew");
    await change("after");
    expect(await told(feed)).toEqual(["after"]);
  });

  it("restarts instead of reading thousands of rows", async () => {
    const feed = await begun();
    const many = { op: "update", table: countsTable, change: { add: { count: 6_000 } } } as const;
    await test.deps.tables.write([{ ...many, key: { pk: CHANGE_COUNTS, sk: "7" } }]);
    expect(await told(feed)).toBe("anew");
    expect(await told(feed)).toEqual([]);
  });

  it("deletes rows that are no longer needed", async () => {
    const feed = await begun();
    for (const document of range(20)) await change(document);
    await feed.read(changeTables(test.deps));
    test.clock.advance(2 * 60 * MINUTE_MS);
    // Enough changes to be sure that old rows are deleted.
    for (const document of range(300)) await change(document);
    expect(await told(feed)).toHaveLength(300);
    const first = await test.deps.tables.query(changesTable, { pk: "0" });
    const since = new Date(test.clock.now() - 60 * MINUTE_MS).getTime();
    const digits = since.toString(16).padStart(12, "0");
    const from = `${digits.slice(0, 8)}-${digits.slice(8)}`;
    expect(first.items.every(({ sk }) => sk >= from)).toBe(true);
  });
});

describe("the row of a change", () => {
  it("is added if lists could show the change, once per transaction", () => {
    const writes = [...writesOf("one").slice(0, 1), ...writesOf("two").slice(0, 1)];
    const all = withChangeRow(test.deps, writes);
    expect(all.slice(0, 2)).toEqual(writes);
    expect(all).toHaveLength(4);
    expect(withChangeRow(test.deps, [])).toEqual([]);
  });
});
