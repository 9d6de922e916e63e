import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EmbeddedPlatform } from "../platform/embedded/platform.ts";
import { openForTest, temporaryFolder } from "../platform/embedded/test-platform.ts";
import type { Tables } from "../platform/tables.ts";
import type { FieldChange } from "./deltas.ts";
import { type IndexOptions, RankedIndex } from "./ranked-index.ts";
import { emptyHead, rankedIndexTable } from "./table.ts";
import { joinParts } from "./text-filters.ts";
import type { Filter } from "./view.ts";

const RESOURCES = { tables: [rankedIndexTable], queues: [], rules: [], schedules: [] };
/** Merges often, so that a few records reach every code path. */
const OFTEN = { mergeRows: 7, mergeDeltas: 3 };

interface Row {
  readonly key: string;
  kind: string;
  text: string | undefined;
}

const kind = fc.constantFrom("a", "b");
const letters = fc.string({ unit: fc.constantFrom("a", "B", "é", "İ", "\u4e16"), maxLength: 6 });
/** Short texts, and long ones in separate items. */
const text = fc.oneof(
  { weight: 4, arbitrary: letters },
  letters.map((end) => `${"-".repeat(300)}${end}`),
);
const needle = fc.oneof(letters, fc.constantFrom("-".repeat(257), "nowhere"));
const step = fc.oneof(
  fc.record({
    op: fc.constant("take" as const),
    by: fc.nat(1),
    records: fc.array(fc.record({ kind, text: fc.option(text, { nil: undefined }) }), {
      minLength: 1,
      maxLength: 12,
    }),
  }),
  fc.record({
    op: fc.constant("change" as const),
    by: fc.nat(1),
    changes: fc.array(fc.record({ at: fc.nat(1000), kind, text: fc.option(text, { nil: undefined }) }), {
      minLength: 1,
      maxLength: 4,
    }),
  }),
  fc.record({
    op: fc.constant("search" as const),
    by: fc.nat(2),
    needles: fc.array(needle, { minLength: 1, maxLength: 2 }),
    kind: fc.option(fc.record({ value: kind, negated: fc.boolean() }), { nil: undefined }),
    offset: fc.nat(12),
    limit: fc.integer({ min: 1, max: 12 }),
  }),
);

describe("text in a ranked index", () => {
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

  /** An index that has assigned numbers before and contains no records. */
  const openAfter = async (name: string, before: number): Promise<void> => {
    const head = { ...emptyHead(name), version: 1, last: before, merged: before, low: before };
    await platform.ports.tables.write([{ op: "put", table: rankedIndexTable, item: head }]);
  };
  const open = (name: string, options: IndexOptions, tables: Tables = platform.ports.tables): RankedIndex =>
    new RankedIndex({ tables }, name, options);

  /** Adds all records, as many at a time as fit. */
  const takeAll = async (
    index: RankedIndex,
    entries: readonly { key: string; fields: Record<string, string>; text?: string }[],
  ): Promise<number[]> => {
    const sizes: number[] = [];
    for (let taken = 0; taken < entries.length; taken += sizes.at(-1) ?? 0) {
      sizes.push((await index.take({ entries: entries.slice(taken) }))?.length ?? 0);
      expect(sizes.at(-1)).toBeGreaterThan(0);
    }
    return sizes;
  };

  it("finds the same as a plain list, with any filters at any offset, after changes and merges of any writer", async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        // Near the ends of a block and of a segment, and far from both.
        fc.constantFrom(0, 250, 65_530),
        fc.constantFrom(0, 40, 1_000_000),
        fc.array(step, { minLength: 4, maxLength: 24 }),
        async (before, textsInMemory, steps) => {
          count += 1;
          const name = `list-${count}`;
          await openAfter(name, before);
          const indexes = [0, 1, 2].map(() => open(name, { ...OFTEN, textsInMemory }));
          const indexOf = (by: number): RankedIndex => indexes[by] ?? open(name, OFTEN);
          const rows: Row[] = [];
          const search = async (index: RankedIndex, filters: Filter[], offset: number, limit: number) => {
            const fits = (row: Row): boolean =>
              filters.every((filter) =>
                "field" in filter
                  ? (row.kind === filter.value) !== (filter.negated ?? false)
                  : "contains" in filter &&
                    (row.text ?? "").toLowerCase().includes(filter.contains.toLowerCase()),
              );
            const expected = rows
              .map((row, at) => ({ row, found: { number: before + at + 1, key: row.key } }))
              .filter(({ row }) => fits(row))
              .map(({ found }) => found)
              .reverse();
            const view = await index.view(filters);
            expect(view.total).toBe(expected.length);
            expect(await view.page({ offset, limit })).toEqual(expected.slice(offset, offset + limit));
          };
          for (const one of steps) {
            const index = indexOf(one.by);
            if (one.op === "take") {
              const added = one.records.map((record, at) => ({ key: `k${rows.length + at}`, ...record }));
              await takeAll(
                index,
                added.map(({ key, kind: value, text: own }) => ({
                  key,
                  fields: { kind: value },
                  ...(own === undefined ? {} : { text: own }),
                })),
              );
              rows.push(...added);
            } else if (one.op === "change") {
              const changes = one.changes.flatMap(({ at, kind: value, text: own }): FieldChange[] => {
                const row = rows[at % Math.max(1, rows.length)];
                if (row === undefined) return [];
                const change = { before: { kind: row.kind }, after: { kind: value } };
                row.kind = value;
                row.text = own ?? row.text;
                const number = before + 1 + rows.indexOf(row);
                return [{ number, ...change, ...(own === undefined ? {} : { text: own }) }];
              });
              await index.take({ entries: [], changes });
            } else {
              const filters: Filter[] = one.needles.map((contains) => ({ contains }));
              if (one.kind !== undefined) filters.push({ field: "kind", ...one.kind });
              await search(index, filters, one.offset, one.limit);
            }
          }
          for (const index of [...indexes, open(name, OFTEN)])
            for (const contains of ["", "a", "-b", "\u4e16"]) await search(index, [{ contains }], 0, 100);
        },
      ),
      { numRuns: 60 },
    );
  }, 60_000);

  it("searches the parts of a text separately, and finds ranges of a part", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(text, fc.constantFrom("", "02", "05", "1"), text), { minLength: 1, maxLength: 30 }),
        fc.record({ part: fc.constantFrom(0, 2), contains: needle }),
        fc.record(
          { from: fc.constantFrom("02", "03", "1"), until: fc.constantFrom("02", "1") },
          { requiredKeys: [] },
        ),
        async (rows, wanted, range) => {
          const index = open(`parts-${randomUUID()}`, OFTEN);
          const entries = rows.map((parts, at) => ({ key: `k${at}`, fields: {}, text: joinParts(parts) }));
          await takeAll(index, entries);
          const contained = (await index.view([wanted])).total;
          expect(contained).toBe(
            rows.filter((parts) => parts[wanted.part]?.toLowerCase().includes(wanted.contains.toLowerCase()))
              .length,
          );
          const { from = "", until = "2" } = range;
          expect((await index.view([{ part: 1, ...range }])).total).toBe(
            rows.filter(([, value]) => value !== "" && value >= from && value < until).length,
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  it("adds as many entries at once as their texts permit", async () => {
    const index = open("big", OFTEN);
    const entries = Array.from({ length: 40 }, (_, at) => ({
      key: `k${at}`,
      fields: {},
      text: `${"\u4e16".repeat(16_000)} end ${at % 4}`,
    }));
    const sizes = await takeAll(index, entries);
    expect(Math.max(...sizes)).toBeLessThan(7);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(40);
    expect((await open("big", OFTEN).view([{ contains: "END 3" }])).total).toBe(10);
  });

  /** Tables that record the sort keys of reads and writes. */
  const watched = (): { tables: Tables; touched: string[] } => {
    const touched: string[] = [];
    const { tables } = platform.ports;
    return {
      touched,
      tables: {
        ...tables,
        get: (table, key) => {
          touched.push(key.sk);
          return tables.get(table, key);
        },
        batchGet: (table, keys) => {
          touched.push(...keys.map(({ sk }) => sk));
          return tables.batchGet(table, keys);
        },
        write: (writes) => {
          touched.push(...writes.map((write) => (write.op === "put" ? write.item.sk : write.key.sk)));
          return tables.write(writes);
        },
      },
    };
  };
  const textsAmong = (touched: readonly string[]): string[] => touched.filter((sk) => /^[tx]#/.test(sk));
  const numbered = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({
      key: `k${from + at}`,
      fields: {},
      text: `Text ${from + at}`,
    }));

  it("needs no reads without texts, and one read of the head to repeat a search", async () => {
    const { tables, touched } = watched();
    const bare = open("bare", OFTEN, tables);
    await takeAll(
      bare,
      Array.from({ length: 20 }, (_, at) => ({ key: `k${at}`, fields: { kind: "a" } })),
    );
    await (await bare.view([{ field: "kind", value: "a" }])).page({ offset: 0, limit: 20 });
    expect(textsAmong(touched)).toEqual([]);
    expect(touched.some((sk) => sk.startsWith("k#"))).toBe(true);

    const index = open("texts", OFTEN, tables);
    await takeAll(index, numbered(0, 20));
    expect((await index.view([{ contains: "T 1" }])).total).toBe(11);
    touched.length = 0;
    expect((await index.view([{ contains: "T 1" }])).total).toBe(11);
    expect(touched).toEqual(["head"]);
  });

  it("reads texts again only if another process's merge may have changed them", async () => {
    const { tables, touched } = watched();
    await openAfter("grown", 250);
    const writer = open("grown", OFTEN);
    const reader = open("grown", OFTEN, tables);
    const search = async (contains: string): Promise<{ total: number; read: string[] }> => {
      touched.length = 0;
      const { total } = await reader.view([{ contains }]);
      return { total, read: textsAmong(touched) };
    };
    await takeAll(writer, numbered(0, 20));
    expect(await search("text")).toEqual({ total: 20, read: ["t#0000", "t#0001"] });
    await takeAll(writer, numbered(20, 10));
    expect(await search("text")).toEqual({ total: 30, read: ["t#0001"] });
    await writer.take({ entries: [], changes: [{ number: 251, before: {}, after: {}, text: "other" }] });
    expect(await search("text")).toEqual({ total: 29, read: [] });
    await takeAll(writer, numbered(30, 10));
    expect(await search("text")).toEqual({ total: 39, read: ["t#0000", "t#0001"] });
  });

  describe("while it is read", () => {
    /** Tables that delay the first response with this block of texts. */
    const slow = (pk: string, sk: string) => {
      const { tables } = platform.ports;
      const asked = Promise.withResolvers<void>();
      const answered = Promise.withResolvers<void>();
      let first = true;
      const batchGet: Tables["batchGet"] = async (table, keys) => {
        const items = await tables.batchGet(table, keys);
        if (!first || !keys.some((key) => key.pk === pk && key.sk === sk)) return items;
        first = false;
        asked.resolve();
        await answered.promise;
        return items;
      };
      return { tables: { ...tables, batchGet }, asked: asked.promise, answer: answered.resolve };
    };

    it("does not cache data from before a concurrent merge", async () => {
      await takeAll(open("list", OFTEN), numbered(0, 20));
      const { tables, asked, answer } = slow("list#0", "t#0000");
      const index = open("list", OFTEN, tables);
      const searching = index.view([{ contains: "text" }]);
      await asked;
      await index.take({ entries: [], changes: [{ number: 1, before: {}, after: {}, text: "other" }] });
      await takeAll(index, numbered(20, 10));
      expect(index.floor).toBe(30);
      answer();
      expect((await searching).total).toBe(29);
      expect((await index.view([{ contains: "text" }])).total).toBe(29);
    });

    it("includes a segment that started meanwhile", async () => {
      const head = { ...emptyHead("list"), version: 1, last: 131_065, merged: 131_065, low: 65_530 };
      await platform.ports.tables.write([{ op: "put", table: rankedIndexTable, item: head }]);
      const { tables, asked, answer } = slow("list#0", "t#0255");
      const index = open("list", OFTEN, tables);
      await takeAll(index, numbered(0, 7));
      expect(index.floor).toBe(131_072);
      const searching = index.view([{ contains: "text 5" }]);
      await asked;
      await takeAll(index, numbered(7, 7));
      expect(index.floor).toBe(131_079);
      answer();
      expect((await searching).total).toBe(1);
    });
  });
});
