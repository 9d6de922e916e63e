import fc from "fast-check";
import { expect, it } from "vitest";
import type { Listing } from "../../http/page.ts";
import type { Tables } from "../../platform/tables.ts";
import { RankedIndex } from "../../ranked-index/ranked-index.ts";
import { hostileSteps, tornTables } from "../../ranked-index/test-torn-tables.ts";
import { type AssetFilters, listAssets } from "../assets/list.ts";
import { assetKey, assetList, assetsTable } from "../assets/table.ts";
import { deadLetterKey, deadLetterList, deadLettersTable, PRESENT } from "../dead-letters/table.ts";
import { indexEventRecords, sweepLists } from "../records/index-lists.ts";
import { findRuns, type RunFilters, runList, runPendingWrite } from "../runs/run-list.ts";
import { runKey, runsTable, type StoredRun } from "../runs/table.ts";
import { indexPending, indexRecords } from "./index-list.ts";
import { type ListDeps, listIndexes } from "./list.ts";
import { readList } from "./read-list.ts";
import { batchPendingWrite, listPartitions, pendingWrite } from "./table.ts";

/** Merges often, so that a few records go through all parts of the index. */
const OFTEN = { mergeRows: 4, mergeDeltas: 2 };
const EVERYTHING = { offset: 0, limit: 1_000 };
const READS = 3;

const open = (tables: Tables): ListDeps => {
  const index = (name: string): RankedIndex => new RankedIndex({ tables }, name, OFTEN);
  return {
    tables,
    lists: {
      ...listIndexes({ tables }),
      runs: index("runs"),
      assets: index("assets"),
      "dead-letters": index("dead-letters"),
    },
  };
};

async function all<Item>({ total, items }: Listing<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const page of items) found.push(...page);
  expect(total).toBe(found.length);
  return found;
}

const runs = async (deps: ListDeps, filters: RunFilters = {}): Promise<string[]> =>
  (await all(await findRuns(deps, filters, EVERYTHING))).map(({ run_id }) => run_id);
const assets = async (deps: ListDeps, filters: AssetFilters = {}): Promise<unknown[]> =>
  (await all(await listAssets(deps, filters, EVERYTHING))).map(({ asset_value }) => asset_value);
const letters = async (deps: ListDeps): Promise<string[]> =>
  (await all(await readList(deps, deadLetterList, [PRESENT], EVERYTHING))).map(({ id }) => id);

function runOf(number: number): StoredRun {
  const run_id = `run-${String(number).padStart(2, "0")}`;
  const workflow_name = number % 2 === 0 ? "even" : "odd";
  const item = {
    ...runKey(run_id),
    run_id,
    number,
    workflow_name,
    workspace: "w",
    target: `t${number % 3}`,
    params: {},
  };
  return {
    ...item,
    status: "pending",
    started_at: null,
    error_message: "",
    created_at: "2026",
    version: 0,
  } as unknown as StoredRun;
}

async function write(tables: Tables, writes: Parameters<Tables["write"]>[0]): Promise<void> {
  expect(await tables.write(writes)).toEqual({ ok: true });
}

/** Checks that all of `due` is shown, and nothing twice. */
function expectOnce(shown: readonly unknown[], due: readonly unknown[]): void {
  expect(new Set(shown).size).toBe(shown.length);
  expect(due.filter((one) => !shown.includes(one))).toEqual([]);
}

async function expectNothingLeft({ tables }: ListDeps): Promise<void> {
  const partitions = [
    ...listPartitions("runs", "pending"),
    ...listPartitions("runs", "entry"),
    ...listPartitions("assets", "pending"),
    ...listPartitions("dead-letters", "pending"),
  ];
  for (const pk of partitions)
    expect((await tables.query({ name: "list-entries", indexes: {} }, { pk })).items).toEqual([]);
}

const clock = { now: () => 0 };
const RUNS = 10;

it("shows every run once at any time, with partly visible transactions and two concurrent indexers", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.infiniteStream(fc.nat(1_000_000)), async (scheduler, chance) => {
      const steps = hostileSteps(scheduler, chance);
      const tables = tornTables(steps);
      const made: string[] = [];
      const ended: string[] = [];
      const items = Array.from({ length: RUNS }, (_, number) => runOf(number));

      const creator = async (): Promise<void> => {
        for (const item of items) {
          await write(tables, [{ op: "put", table: runsTable, item }, runPendingWrite(item)]);
          made.push(item.run_id);
        }
      };
      const conductor = async (): Promise<void> => {
        for (const item of items) {
          while (!made.includes(item.run_id)) await steps.step();
          const status = item.number % 3 === 0 ? "failed" : "completed";
          await write(tables, [{ op: "put", table: runsTable, item: { ...item, status } }]);
          ended.push(item.run_id);
        }
      };
      const indexer = async (deps: ListDeps): Promise<void> => {
        for (let round = 0; round < RUNS; round += 1) {
          await steps.step();
          const told = steps.shuffle(ended).slice(0, 2);
          if (round % 5 === 0)
            await indexRecords(deps, runList, steps.shuffle([...made, ...ended]).slice(0, 3));
          else if (round % 5 === 1) await indexPending(deps, runList);
          else
            await indexEventRecords(
              { ...deps, clock },
              told.map((run_id) => ({ topic: "run.completed", run_id })),
              false,
            );
        }
      };
      const reader = async (deps: ListDeps): Promise<void> => {
        for (let round = 0; round < READS; round += 1) {
          const due = [...made];
          expectOnce(await runs(deps), due);
          const even = due.filter((id) => Number(id.slice(4)) % 2 === 0);
          expectOnce(await runs(deps, { workflow: "even" }), even);
        }
      };
      const shared = open(tables);
      await scheduler.waitFor(
        Promise.all([
          creator(),
          conductor(),
          indexer(shared),
          indexer(open(tables)),
          reader(shared),
          reader(open(tables)),
        ]),
      );

      steps.calm();
      await sweepLists(open(tables));
      const deps = open(tables);
      await expectNothingLeft(deps);
      expectOnce(await runs(deps), made);
      expect(await runs(deps)).toHaveLength(RUNS);
      for (const status of ["failed", "completed", "running", "pending"]) {
        for (const target of [undefined, "T1"]) {
          const fits = items.filter(
            ({ number }) =>
              (number % 3 === 0 ? "failed" : "completed") === status &&
              (target === undefined || number % 3 === 1),
          );
          const found = await runs(deps, { status, target });
          expect(found.toSorted()).toEqual(fits.map(({ run_id }) => run_id));
        }
      }
    }),
    { numRuns: 40 },
  );
}, 60_000);

const VALUES = ["a", "b", "c", "d", "e"];
const TOLD = 14;
/** Records that are created by one transaction each. */
const IMPORTED = [
  ["f", "g", "h"],
  ["i", "j"],
];

it("finds every asset by its latest fields, with partly visible transactions and two concurrent indexers", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.infiniteStream(fc.nat(1_000_000)),
      fc.array(
        fc.tuple(fc.constantFrom(...VALUES), fc.constantFrom("x", "y"), fc.constantFrom("new", "old")),
        {
          minLength: TOLD,
          maxLength: TOLD,
        },
      ),
      async (scheduler, chance, told) => {
        const steps = hostileSteps(scheduler, chance);
        const tables = tornTables(steps);
        const last = new Map<string, { source: string; title: string }>();
        let id = 0;

        const tell = (asset_value: string, source: string, title: string) => {
          id += 1;
          const list_token = String(id);
          const set = { asset_value, workspace: "w", asset_type: "t", source, title, list_token };
          const change = { set, setIfMissing: { id, created_at: "2026" } };
          const key = assetKey("w", asset_value);
          const update = { op: "update", table: assetsTable, key, change } as const;
          return { update, mark: pendingWrite("assets", key.pk, list_token), key: key.pk };
        };
        const emitter = async (): Promise<void> => {
          for (const [asset_value, source, title] of told) {
            const { update, mark } = tell(asset_value, source, title);
            await write(tables, [update, mark]);
            last.set(asset_value, { source, title });
          }
        };
        const importer = async (): Promise<void> => {
          for (const values of IMPORTED) {
            const all = values.map((value) => tell(value, "x", "new"));
            const together = batchPendingWrite(
              "assets",
              `import-${values[0]}`,
              all.map(({ key }) => key),
            );
            await write(tables, [...all.map(({ update }) => update), together]);
            for (const value of values) last.set(value, { source: "x", title: "new" });
            const [changed = ""] = values;
            const { update, mark } = tell(changed, "y", "old");
            await write(tables, [update, mark]);
            last.set(changed, { source: "y", title: "old" });
          }
        };
        const indexer = async (deps: ListDeps): Promise<void> => {
          for (let round = 0; round < TOLD; round += 1) {
            await steps.step();
            await indexPending(deps, assetList);
          }
        };
        const reader = async (deps: ListDeps): Promise<void> => {
          for (let round = 0; round < READS; round += 1) {
            const due = [...last.keys()];
            expectOnce(await assets(deps), due);
          }
        };
        const shared = open(tables);
        await scheduler.waitFor(
          Promise.all([
            emitter(),
            importer(),
            indexer(shared),
            indexer(open(tables)),
            reader(shared),
            reader(open(tables)),
          ]),
        );

        steps.calm();
        await sweepLists(open(tables));
        const deps = open(tables);
        await expectNothingLeft(deps);
        for (const source of [undefined, "x", "y"]) {
          for (const search of [undefined, "NEW"]) {
            const fits = [...last].filter(
              ([, asset]) =>
                (source === undefined || asset.source === source) &&
                (search === undefined || asset.title === "new"),
            );
            const found = await assets(deps, { source, search });
            expect(found.toSorted()).toEqual(fits.map(([value]) => value).toSorted());
          }
        }
      },
    ),
    { numRuns: 40 },
  );
}, 60_000);

const LETTERS = 6;

it("lists every remaining dead letter, with partly visible transactions and two concurrent indexers", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.infiniteStream(fc.nat(1_000_000)),
      fc.array(fc.boolean(), { minLength: LETTERS, maxLength: LETTERS }),
      async (scheduler, chance, redriven) => {
        const steps = hostileSteps(scheduler, chance);
        const tables = tornTables(steps);
        const here = new Set<string>();

        const receiver = async (): Promise<void> => {
          for (const [at, gone] of redriven.entries()) {
            const id = `letter-${at}`;
            const item = { ...deadLetterKey(id), id, received_at: `2026-${at}`, list_token: `in-${at}` };
            await write(tables, [
              { op: "put", table: deadLettersTable, item },
              pendingWrite("dead-letters", id, item.list_token),
            ]);
            if (!gone) here.add(id);
            if (!gone) continue;
            for (let turn = 0; turn < at * 5; turn += 1) await steps.step();
            await write(tables, [
              { op: "delete", table: deadLettersTable, key: deadLetterKey(id) },
              pendingWrite("dead-letters", id, `out-${at}`, { gone: true }),
            ]);
          }
        };
        const indexer = async (deps: ListDeps): Promise<void> => {
          for (let round = 0; round < LETTERS * 2; round += 1) {
            await steps.step();
            await indexPending(deps, deadLetterList);
          }
        };
        const shared = open(tables);
        await scheduler.waitFor(Promise.all([receiver(), indexer(shared), indexer(open(tables))]));

        steps.calm();
        await sweepLists(shared);
        await expectNothingLeft(shared);
        for (const deps of [shared, open(tables)])
          expect((await letters(deps)).toSorted()).toEqual([...here]);
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);
