import fc from "fast-check";
import { expect, it } from "vitest";
import type { Tables } from "../platform/tables.ts";
import { clearOldest } from "./clear-oldest.ts";
import { RankedIndex } from "./ranked-index.ts";
import { emptyHead, rankedIndexTable } from "./table.ts";
import { hostileSteps, tornTables } from "./test-torn-tables.ts";

/** Merges often, so that a few records reach every code path. */
const OFTEN = { mergeRows: 3, mergeDeltas: 2 };
const NAME = "list";
const RECORDS = 10;
const READS = 6;
/** Numbers assigned before: a segment becomes full a few records later. */
const BEFORE = [0, 65_530];

const openIndex = (tables: Tables): RankedIndex => new RankedIndex({ tables }, NAME, OFTEN);

it("removes the oldest records at one instant, with torn writes and concurrent processes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.infiniteStream(fc.nat(1_000_000)),
      fc.constantFrom(...BEFORE),
      fc.nat(2 * RECORDS),
      async (scheduler, chance, before, goal) => {
        const steps = hostileSteps(scheduler, chance);
        const tables = tornTables(steps);
        const head = { ...emptyHead(NAME), version: 1, last: before, merged: before, low: before };
        await scheduler.waitFor(tables.write([{ op: "put", table: rankedIndexTable, item: head }]));
        const removed = new Set<string>();
        const numbers = new Map<string, number>();

        const writer = async (own: number): Promise<void> => {
          const index = openIndex(tables);
          for (let at = 0; at < RECORDS; at += 1) {
            const key = `${own}.${at}`;
            const [taken] = (await index.take({ entries: [{ key, fields: { all: "yes" } }] })) ?? [];
            numbers.set(key, taken?.number ?? 0);
          }
        };
        const clear = (index: RankedIndex): Promise<number> =>
          clearOldest(
            { tables },
            {
              name: NAME,
              index,
              // Records with the first numbers count as old.
              judge: async (keys) => {
                const view = await index.view([]);
                const first = (await view.page({ offset: 0, limit: 100 })).find(({ key }) => key === keys[0]);
                const old = before + goal - (first?.number ?? before + goal + 1) + 1;
                return { count: Math.max(0, Math.min(keys.length, old)) };
              },
              remove: async (keys) => {
                for (const key of keys) removed.add(key);
              },
            },
            3,
          );
        const clearer = async (): Promise<void> => {
          const index = openIndex(tables);
          for (let round = 0; round < READS; round += 1) await clear(index);
        };
        const reader = async (): Promise<void> => {
          const index = openIndex(tables);
          let low = before;
          for (let round = 0; round < READS; round += 1) {
            for (const filters of [[], [{ field: "all", value: "yes" }]]) {
              const gone = new Set(removed);
              const view = await index.view(filters);
              const found = await view.page({ offset: 0, limit: 100 });
              const now = view.last - view.total;
              expect(found.map(({ number }) => number)).toEqual(
                Array.from({ length: found.length }, (_, at) => view.last - at),
              );
              expect(now).toBeGreaterThanOrEqual(low);
              expect(now).toBeLessThanOrEqual(before + goal);
              for (const { key } of found) expect(gone.has(key)).toBe(false);
              expect(found.length).toBeLessThanOrEqual(view.total);
              low = now;
            }
          }
        };
        await scheduler.waitFor(Promise.all([writer(0), writer(1), clearer(), clearer(), reader()]));

        steps.calm();
        for (let round = 0; round < 2 * RECORDS; round += 1) await clear(openIndex(tables));
        const view = await openIndex(tables).view([]);
        const left = await view.page({ offset: 0, limit: 100 });
        const isOld = (key: string): boolean => (numbers.get(key) ?? 0) <= before + goal;
        expect(new Set(left.map(({ key }) => key))).toEqual(
          new Set([...numbers.keys()].filter((key) => !isOld(key))),
        );
        expect(removed).toEqual(new Set([...numbers.keys()].filter(isOld)));
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);
