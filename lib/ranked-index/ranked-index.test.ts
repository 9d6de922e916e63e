import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EmbeddedPlatform } from "../platform/embedded/platform.ts";
import { openForTest, temporaryFolder } from "../platform/embedded/test-platform.ts";
import { type Filter, RankedIndex } from "./ranked-index.ts";
import { rankedIndexTable } from "./table.ts";

const RESOURCES = { tables: [rankedIndexTable], queues: [], rules: [], schedules: [] };

interface Row {
  readonly key: string;
  fields: Record<string, string>;
}

describe("a ranked index", () => {
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

  const takeAll = async (index: RankedIndex, rows: readonly Row[]): Promise<void> => {
    for (let taken = 0; taken < rows.length; ) {
      const numbers = await index.take({ entries: rows.slice(taken) });
      expect(numbers?.length).toBeGreaterThan(0);
      taken += numbers?.length ?? 0;
    }
  };

  const expectSame = async (
    index: RankedIndex,
    rows: readonly Row[],
    filters: Filter[],
    offset: number,
    limit: number,
  ) => {
    const fits = rows
      .map((row, at) => ({ number: at + 1, key: row.key, fields: row.fields }))
      .filter(({ fields }) =>
        filters.every(({ field, value, negated }) => (fields[field] === value) !== (negated === true)),
      )
      .reverse();
    const found = await index.select(filters, { offset, limit });
    expect(found.total).toBe(fits.length);
    expect(found.found).toEqual(
      fits.slice(offset, offset + limit).map(({ number, key }) => ({ number, key })),
    );
  };

  it("answers any filter at any offset as a plain list does, after additions and changes, from any reader", async () => {
    const value = fc.constantFrom("a", "b", "c");
    const row = fc.record({
      topic: value,
      source: value,
      long: fc.constantFrom("x".repeat(500), "y".repeat(500)),
    });
    const filter = fc.record({ field: fc.constantFrom("topic", "source"), value, negated: fc.boolean() });
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(row, { minLength: 1, maxLength: 40 }), { maxLength: 4 }),
        fc.array(fc.tuple(fc.nat(1000), value), { maxLength: 5 }),
        fc.array(filter, { maxLength: 3 }),
        fc.nat(30),
        fc.integer({ min: 1, max: 20 }),
        async (batches, changes, filters, offset, limit) => {
          number += 1;
          const name = `list-${number}`;
          const index = new RankedIndex(platform.ports, name);
          const rows: Row[] = [];
          for (const batch of batches) {
            const added = batch.map((fields, at) => ({ key: `k${rows.length + at}`, fields: { ...fields } }));
            await takeAll(index, added);
            rows.push(...added);
          }
          for (const [at, topic] of changes) {
            const changed = rows[at % Math.max(1, rows.length)];
            if (changed === undefined) continue;
            const before = changed.fields;
            changed.fields = { ...before, topic };
            await index.take({
              entries: [],
              changes: [{ number: rows.indexOf(changed) + 1, before, after: changed.fields }],
            });
          }
          await expectSame(index, rows, filters, offset, limit);
          await expectSame(new RankedIndex(platform.ports, name), rows, filters, offset, limit);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("gives two writers and any number of callers their turns, and loses nothing", async () => {
    const one = new RankedIndex(platform.ports, "shared");
    const other = new RankedIndex(platform.ports, "shared");
    const numbers = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        (at % 2 === 0 ? one : other).take({
          entries: [{ key: `k${at}`, fields: { parity: String(at % 2) } }],
        }),
      ),
    );
    expect(numbers.flat().toSorted((a, b) => (a ?? 0) - (b ?? 0))).toEqual(
      Array.from({ length: 60 }, (_, at) => at + 1),
    );
    for (const reader of [one, other, new RankedIndex(platform.ports, "shared")]) {
      const odd = await reader.select([{ field: "parity", value: "1" }], { offset: 0, limit: 100 });
      expect(odd.total).toBe(30);
      expect(odd.found.map(({ key }) => key).every((key) => Number(key.slice(1)) % 2 === 1)).toBe(true);
    }
  });

  it("commits the caller's writes with its own, or neither", async () => {
    const index = new RankedIndex(platform.ports, "mine");
    const key = { pk: "other", sk: "row" };
    const entryWrites = (_entry: unknown, number: number) => [
      {
        op: "put" as const,
        table: rankedIndexTable,
        item: { ...key, version: number },
        when: [["pk", "missing"] as const],
      },
    ];
    expect(await index.take({ entries: [{ key: "a", fields: {} }], entryWrites, writesEach: 1 })).toEqual([
      1,
    ]);
    expect(
      await index.take({ entries: [{ key: "b", fields: {} }], entryWrites, writesEach: 1 }),
    ).toBeUndefined();
    expect(await index.last()).toBe(1);
    expect((await platform.ports.tables.get(rankedIndexTable, key))?.version).toBe(1);
  });

  it("goes on over the border of a segment", async () => {
    const index = new RankedIndex(platform.ports, "long");
    const head = { pk: "long", sk: "head", version: 1, last: 65_530, low: 65_520, changed: {} };
    await platform.ports.tables.write([{ op: "put", table: rankedIndexTable, item: head }]);
    await takeAll(
      index,
      Array.from({ length: 20 }, (_, at) => ({ key: `k${at}`, fields: { all: "yes" } })),
    );
    const page = await index.select([{ field: "all", value: "yes" }], { offset: 10, limit: 5 });
    expect(page).toEqual({
      last: 65_550,
      total: 20,
      found: [10, 9, 8, 7, 6].map((number) => ({ number: 65_530 + number, key: `k${number - 1}` })),
    });
    expect((await index.select([], { offset: 0, limit: 1 })).total).toBe(30);
  });
});
