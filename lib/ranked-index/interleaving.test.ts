import fc from "fast-check";
import { expect, it } from "vitest";
import type { Tables } from "../platform/tables.ts";
import { RankedIndex } from "./ranked-index.ts";
import { emptyHead, rankedIndexTable } from "./table.ts";
import { hostileSteps, tornTables } from "./test-torn-tables.ts";

/** Merges often, so that a few records reach every code path. */
const OFTEN = { mergeRows: 3, mergeDeltas: 2 };
const WRITERS = 3;
const RECORDS = 8;
const READS = 6;
/** Numbers assigned before: a block of keys and texts, or a segment, becomes full a few records later. */
const BEFORE = [250, 65_530];

const openIndex = (tables: Tables): RankedIndex => new RankedIndex({ tables }, "list", OFTEN);
const SIDES = [
  { left: "on", right: "off" },
  { left: "off", right: "on" },
];
/** One text in a block, one in a separate item. */
const TEXTS = ["West", `East ${"é".repeat(200)}`];

it("shows one instant with torn writes and several writers", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.infiniteStream(fc.nat(1_000_000)),
      fc.constantFrom(...BEFORE),
      fc.array(fc.nat(2), { minLength: RECORDS * WRITERS, maxLength: RECORDS * WRITERS }),
      async (scheduler, chance, before, flips) => {
        const steps = hostileSteps(scheduler, chance);
        const tables = tornTables(steps);
        const written = new Map<string, { number: number; side: number }>();
        const head = { ...emptyHead("list"), version: 1, last: before, merged: before, low: before };
        await scheduler.waitFor(tables.write([{ op: "put", table: rankedIndexTable, item: head }]));
        const indexes = Array.from({ length: WRITERS }, () => openIndex(tables));

        const writer = async (index: RankedIndex, own: number): Promise<void> => {
          for (let at = 0; at < RECORDS; at += 1) {
            const key = `${own}.${at}`;
            const entry = { key, fields: SIDES[0] ?? {}, text: TEXTS[0] ?? "" };
            const [taken] = (await index.take({ entries: [entry] })) ?? [];
            const record = { number: taken?.number ?? 0, side: 0 };
            written.set(key, record);
            // A record, sometimes an old one, moves from one side to the other atomically.
            for (let left = flips[own * RECORDS + at] ?? 0; left > 0; left -= 1) {
              const old = written.get(`${own}.${Math.floor(at / left)}`) ?? record;
              const sides = { before: SIDES[old.side] ?? {}, after: SIDES[1 - old.side] ?? {} };
              const change = { number: old.number, ...sides, text: TEXTS[1 - old.side] ?? "" };
              await index.take({ entries: [], changes: [change] });
              old.side = 1 - old.side;
            }
          }
        };
        const reader = async (index: RankedIndex): Promise<void> => {
          for (let round = 0; round < READS; round += 1) {
            const known = written.size;
            const all = await index.view([]);
            expect(all.total).toBeGreaterThanOrEqual(known);
            const numbers = (await all.page({ offset: 0, limit: 100 })).map(({ number }) => number);
            expect(numbers).toEqual(Array.from({ length: all.last - before }, (_, at) => all.last - at));
            for (const value of ["on", "off"]) {
              const both = await index.view([
                { field: "left", value },
                { field: "right", value },
              ]);
              expect(both.total).toBe(0);
            }
            for (const [value, other] of [
              ["on", "EAST"],
              ["off", "WEST"],
            ] as const) {
              const torn = await index.view([{ field: "left", value }, { contains: other }]);
              expect(torn.total).toBe(0);
            }
            expect((await index.view([{ contains: "st" }])).total).toBeGreaterThanOrEqual(known);
          }
        };
        const actors = [
          ...indexes.map((index, own) => writer(index, own)),
          ...[indexes[0] ?? openIndex(tables), openIndex(tables)].map(reader),
        ];
        await scheduler.waitFor(Promise.all(actors));

        steps.calm();
        for (const index of [...indexes, openIndex(tables)]) {
          const expected = [...written].sort(([, one], [, other]) => other.number - one.number);
          for (const [side, value] of ["on", "off"].entries()) {
            const view = await index.view([{ field: "left", value }]);
            const searched = await index.view([{ contains: side === 0 ? "west" : "east" }]);
            const keys = expected.filter(([, record]) => record.side === side).map(([key]) => key);
            for (const all of [view, searched]) {
              const found = await all.page({ offset: 0, limit: 100 });
              expect(found.map(({ key }) => key)).toEqual(keys);
            }
          }
        }
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);
