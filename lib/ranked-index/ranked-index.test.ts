import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EmbeddedPlatform } from "../platform/embedded/platform.ts";
import { openForTest, temporaryFolder } from "../platform/embedded/test-platform.ts";
import { RankedIndex } from "./ranked-index.ts";
import { emptyHead, headKeyOf, rankedIndexTable } from "./table.ts";
import type { FieldFilter, Filter, FoundRecord } from "./view.ts";

const RESOURCES = { tables: [rankedIndexTable], queues: [], rules: [], schedules: [] };

interface Row {
  readonly key: string;
  fields: Record<string, string>;
}

/** Merges often, so that a few records reach every code path. */
const OFTEN = { mergeRows: 7, mergeDeltas: 3 };

async function select(
  index: RankedIndex,
  filters: readonly Filter[],
  page: { offset: number; limit: number },
): Promise<{ last: number; total: number; found: FoundRecord[] }> {
  const view = await index.view(filters);
  return { last: view.last, total: view.total, found: await view.page(page) };
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
      const added = await index.take({ entries: rows.slice(taken) });
      expect(added?.length).toBeGreaterThan(0);
      taken += added?.length ?? 0;
    }
  };

  const expectSame = async (
    index: RankedIndex,
    rows: readonly Row[],
    filters: FieldFilter[],
    offset: number,
    limit: number,
  ) => {
    const fits = rows
      .map((row, at) => ({ number: at + 1, key: row.key, fields: row.fields }))
      .filter(({ fields }) =>
        filters.every(({ field, value, negated }) => (fields[field] === value) !== (negated === true)),
      )
      .reverse();
    const { total, found } = await select(index, filters, { offset, limit });
    expect(total).toBe(fits.length);
    expect(found).toEqual(fits.slice(offset, offset + limit).map(({ number, key }) => ({ number, key })));
  };

  it("returns the records after any number oldest first, in parts that join without a gap", async () => {
    const value = fc.constantFrom("a", "b");
    const filter = fc.record({ field: fc.constant("topic"), value, negated: fc.boolean() });
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(value, { minLength: 1, maxLength: 12 }), { maxLength: 4 }),
        fc.array(filter, { maxLength: 2 }),
        fc.nat(50),
        fc.integer({ min: 1, max: 9 }),
        async (batches, filters, start, limit) => {
          number += 1;
          const writer = new RankedIndex(platform.ports, `after-${number}`, OFTEN);
          const readers = [writer, new RankedIndex(platform.ports, `after-${number}`, OFTEN)];
          const rows: Row[] = [];
          for (const batch of batches) {
            const entries = batch.map((topic, at) => ({
              key: `${rows.length + at}`.padStart(4, "0"),
              fields: { topic },
            }));
            await takeAll(writer, entries);
            rows.push(...entries);
            const fits = rows
              .map((row, at) => ({ number: at + 1, key: row.key, fields: row.fields }))
              .filter((row) => row.number > start)
              .filter(({ fields }) =>
                filters.every((one) => (fields[one.field] === one.value) !== (one.negated === true)),
              )
              .map(({ key, number: at }) => ({ number: at, key }));
            for (const reader of readers) {
              const found: FoundRecord[] = [];
              for (let from = start; from < rows.length; ) {
                const part = await reader.after(filters, from, limit);
                expect(part.last).toBeGreaterThan(from);
                found.push(...part.found);
                from = part.last;
              }
              expect(found).toEqual(fits);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("calls subscribers after an addition, until they unsubscribe", async () => {
    const index = new RankedIndex(platform.ports, "subscribed", OFTEN);
    const seen: number[] = [];
    const unsubscribe = index.subscribe(() => seen.push(seen.length));
    await index.take({ entries: [{ key: "1", fields: {} }] });
    unsubscribe();
    await index.take({ entries: [{ key: "2", fields: {} }] });
    expect(seen).toEqual([0]);
  });

  it("returns the same as a plain list for any filter at any offset, after additions and changes, for any reader", async () => {
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
          const index = new RankedIndex(platform.ports, name, OFTEN);
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
          await expectSame(new RankedIndex(platform.ports, name, OFTEN), rows, filters, offset, limit);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("serializes two writers and any number of callers, and loses nothing", async () => {
    const one = new RankedIndex(platform.ports, "shared", OFTEN);
    const other = new RankedIndex(platform.ports, "shared", OFTEN);
    const taken = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        (at % 2 === 0 ? one : other).take({
          entries: [{ key: `k${at}`, fields: { parity: String(at % 2) } }],
        }),
      ),
    );
    const numbers = taken.flat().map((record) => record?.number ?? 0);
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, at) => at + 1));
    for (const reader of [one, other, new RankedIndex(platform.ports, "shared", OFTEN)]) {
      const odd = await select(reader, [{ field: "parity", value: "1" }], { offset: 0, limit: 100 });
      expect(odd.total).toBe(30);
      expect(odd.found.map(({ key }) => key).every((key) => Number(key.slice(1)) % 2 === 1)).toBe(true);
    }
  });

  it("adds entries whose long values do not fit into one delta together", async () => {
    const fields = ["topic", "name", "source", "workspace", "run_id", "workflow_name"];
    const rows = Array.from({ length: 150 }, (_, at) => ({
      key: `key-${at}`,
      fields: Object.fromEntries(fields.map((field) => [field, `${"漢".repeat(195)}${at}`])),
    }));
    const index = new RankedIndex(platform.ports, "long", OFTEN);
    await takeAll(index, rows);
    await expectSame(index, rows, [], 0, 150);
    await expectSame(index, rows, [{ field: "name", value: `${"漢".repeat(195)}149` }], 0, 10);
  });

  it("commits the caller's writes with its own, or neither", async () => {
    const index = new RankedIndex(platform.ports, "mine");
    const key = { pk: "other", sk: "row" };
    const entryWrites = () => [
      {
        op: "put" as const,
        table: rankedIndexTable,
        item: { ...key, version: 1 },
        when: [["pk", "missing"] as const],
      },
    ];
    expect(await index.take({ entries: [{ key: "a", fields: {} }], entryWrites, writesEach: 1 })).toEqual([
      { key: "a", number: 1, added: true },
    ]);
    expect(
      await index.take({ entries: [{ key: "b", fields: {} }], entryWrites, writesEach: 1 }),
    ).toBeUndefined();
    expect(await index.last()).toBe(1);
    expect((await platform.ports.tables.get(rankedIndexTable, key))?.version).toBe(1);
  });

  it("numbers a record once, even if it is added repeatedly while it is recent", async () => {
    const index = new RankedIndex(platform.ports, "once", OFTEN);
    const entry = { key: "a", fields: { topic: "x" } };
    expect(await index.take({ entries: [entry] })).toEqual([{ key: "a", number: 1, added: true }]);
    expect(await index.take({ entries: [entry] })).toEqual([{ key: "a", number: 1, added: false }]);
    expect((await select(index, [], { offset: 0, limit: 10 })).total).toBe(1);
  });

  it("settles records before they leave its recent part, including those of a writer that died", async () => {
    const dying = new RankedIndex(platform.ports, "settled", OFTEN);
    const settle = () => Promise.reject(new Error("died"));
    await expect(
      dying.take({ entries: [{ key: "dying", fields: {} }], acknowledge: settle }),
    ).rejects.toThrow("died");
    const settled: string[] = [];
    const next = new RankedIndex(platform.ports, "settled", OFTEN);
    for (let at = 0; at < 7; at += 1) {
      await next.take({
        entries: [{ key: `k${at}`, fields: {} }],
        acknowledge: async (rows) => {
          expect(next.floor ?? 0).toBeLessThan(rows[0]?.number ?? 0);
          settled.push(...rows.map(({ key }) => key));
        },
      });
    }
    expect(next.floor).toBeGreaterThan(0);
    expect(settled.toSorted()).toEqual(["dying", "k0", "k1", "k2", "k3", "k4", "k5", "k6"]);
  });

  it("continues in the next segments", async () => {
    const index = new RankedIndex(platform.ports, "long", OFTEN);
    const { tables } = platform.ports;
    const skipTo = async (number: number, low: number): Promise<void> => {
      const head = (await tables.get(rankedIndexTable, headKeyOf("long"))) ?? emptyHead("long");
      const item = { ...head, version: head.version + 1, last: number, merged: number, low };
      await tables.write([{ op: "put", table: rankedIndexTable, item }]);
    };
    const take = (prefix: string): Promise<void> =>
      takeAll(
        index,
        Array.from({ length: 20 }, (_, at) => ({ key: `${prefix}${at}`, fields: { all: "yes" } })),
      );
    const all = [{ field: "all", value: "yes" }];
    await skipTo(65_530, 65_520);
    await take("k");
    expect(await select(index, all, { offset: 10, limit: 5 })).toEqual({
      last: 65_550,
      total: 20,
      found: [10, 9, 8, 7, 6].map((number) => ({ number: 65_530 + number, key: `k${number - 1}` })),
    });
    expect((await select(index, [], { offset: 0, limit: 1 })).total).toBe(30);

    expect(await index.mergedUntil()).toBe(65_550);
    await skipTo(131_066, 65_520);
    await take("m");
    expect(await select(index, all, { offset: 33, limit: 4 })).toEqual({
      last: 131_086,
      total: 40,
      found: [7, 6, 5, 4].map((number) => ({ number: 65_530 + number, key: `k${number - 1}` })),
    });
  });
});
