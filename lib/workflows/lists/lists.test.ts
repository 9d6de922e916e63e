import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emitEvent } from "../../events/emit.ts";
import { resendPending } from "../../events/log/process.ts";
import type { OrderedPageRequest } from "../../http/page.ts";
import { isCrash, type TestDeps, testClock, testDeps } from "../../testing/test-deps.ts";
import { collectPages, onTopic, storeWorkflow } from "../../testing/test-workflows.ts";
import { type AssetFilters, listAssets } from "../assets/list.ts";
import { listDeadLetters, redriveDeadLetter, storeDeadLetter } from "../dead-letters/dead-letters.ts";
import { sweepLists } from "../records/index-lists.ts";
import { cancelRun } from "../runs/cancel.ts";
import { getRun, listRuns } from "../runs/read.ts";
import { resendStalledRuns } from "../runs/resend-stalled.ts";
import type { RunFilters } from "../runs/run-list.ts";
import { startRun } from "../runs/start.ts";

const EVERYTHING = { offset: 0, limit: 1_000 };

const runIds = async (
  { deps }: TestDeps,
  filters: RunFilters = {},
  page: OrderedPageRequest = EVERYTHING,
) => {
  const { total, items } = await listRuns(deps, filters, page);
  return { total, ids: (await collectPages(items)).map(({ run_id }) => run_id) };
};
const assetValues = async (
  { deps }: TestDeps,
  filters: AssetFilters = {},
  page: OrderedPageRequest = EVERYTHING,
) => {
  const { total, items } = await listAssets(deps, filters, page);
  return { total, ids: (await collectPages(items)).map(({ asset_value }) => asset_value) };
};
const letterIds = async ({ deps }: TestDeps, page: OrderedPageRequest = EVERYTHING) => {
  const { total, items } = await listDeadLetters(deps, page);
  return { total, ids: (await collectPages(items)).map(({ id }) => id) };
};

interface Asset {
  readonly value: string;
  readonly workspace: string;
  source: string;
  title: string;
}

/** The acknowledged writes, oldest first. */
class Model {
  readonly runs: { readonly id: string; readonly workflow: string; readonly target: string }[] = [];
  readonly assets: Asset[] = [];
  letters: string[] = [];
}

const WORKSPACES = ["w1", "w2"];
const WORKFLOWS = ["one", "two"];
const work = fc.oneof(
  fc.record({ op: fc.constant("run" as const), workflow: fc.constantFrom(...WORKFLOWS), at: fc.nat(30) }),
  fc.record({ op: fc.constant("cancel" as const), at: fc.nat(30) }),
  fc.record({
    op: fc.constant("asset" as const),
    at: fc.nat(12),
    workspace: fc.constantFrom(...WORKSPACES),
    source: fc.constantFrom("s1", "s2"),
    title: fc.constantFrom("Old Title", "new title"),
  }),
  fc.record({ op: fc.constant("letter" as const) }),
  fc.record({ op: fc.constant("redrive" as const), at: fc.nat(30) }),
  fc.record({
    op: fc.constant("drain" as const),
    but: fc.constantFrom<string[]>([], ["index-events"], ["bash"], ["conduct"]),
  }),
  fc.record({ op: fc.constant("sweep" as const) }),
);
type Work = typeof work extends fc.Arbitrary<infer Value> ? Value : never;

async function perform(test: TestDeps, model: Model, step: Work): Promise<void> {
  const { deps } = test;
  if (step.op === "run") {
    const target = `host-${step.at}.example`;
    const { run_id } = await startRun(deps, { module: step.workflow, target });
    model.runs.push({ id: run_id, workflow: step.workflow, target });
  } else if (step.op === "cancel") {
    const run = model.runs[step.at];
    if (run !== undefined) await cancelRun(deps, run.id).catch(ignoreRefusals);
  } else if (step.op === "asset") {
    const { workspace, source, title } = step;
    const value = `asset-${step.at}.example`;
    await emitEvent(deps, { topic: "assets.new", workspace, data: { value, source, title } });
    const known = model.assets.find((asset) => asset.value === value && asset.workspace === workspace);
    if (known === undefined) model.assets.push({ value, workspace, source, title });
    else Object.assign(known, { source, title });
  } else if (step.op === "letter") {
    const id = `letter-${deps.ids.ordered()}`;
    await storeDeadLetter(deps, { id, queue: "http", body: "{}" });
    model.letters.push(id);
  } else if (step.op === "redrive") {
    const id = model.letters[step.at];
    if (id !== undefined) await redriveDeadLetter(deps, id);
    model.letters = model.letters.filter((letter) => letter !== id);
  } else if (step.op === "drain") {
    // How an http step would handle such a message is not relevant here.
    await test.drain([...step.but, "http"]);
  } else {
    await sweepLists(deps);
  }
}

function ignoreRefusals(error: unknown): void {
  if (isCrash(error)) throw error;
}

/** Returns the ids on a page that match, in the order of the page. */
const pageOf = <Item>(
  items: readonly Item[],
  id: (item: Item) => string,
  { offset, limit, oldestFirst = false }: OrderedPageRequest,
) => ({
  total: items.length,
  ids: (oldestFirst ? items : items.toReversed()).map(id).slice(offset, offset + limit),
});

/** Fields that never change are exact at any time, and so is the status of a run. */
async function expectExact(test: TestDeps, model: Model, page: OrderedPageRequest): Promise<void> {
  const runs = await Promise.all(
    model.runs.map(async (run) => ({ ...run, status: (await getRun(test.deps, run.id)).status })),
  );
  const statuses = [undefined, "pending", "running", "completed", "cancelled", "failed"];
  for (const status of statuses) {
    for (const workflow of [undefined, "one"]) {
      for (const target of [undefined, "HOST-1"]) {
        const fits = runs.filter(
          (run) =>
            (status === undefined || run.status === status) &&
            (workflow === undefined || run.workflow === workflow) &&
            (target === undefined || run.target.includes("host-1")),
        );
        const found = await runIds(test, { status, workflow, target }, page);
        expect({ status, workflow, target, ...found }).toEqual({
          status,
          workflow,
          target,
          ...pageOf(fits, ({ id }) => id, page),
        });
      }
    }
  }
  for (const workspace of [undefined, "w1", "w3"]) {
    const fits = model.assets.filter((asset) => workspace === undefined || asset.workspace === workspace);
    expect(await assetValues(test, { workspace }, page)).toEqual(pageOf(fits, ({ value }) => value, page));
  }
  expect(await letterIds(test, page)).toEqual(pageOf(model.letters, (id) => id, page));
}

/** Once everything is indexed, an asset is found by its latest fields. */
async function expectAssets(test: TestDeps, model: Model): Promise<void> {
  for (const workspace of [undefined, "w1"]) {
    for (const source of [undefined, "s1", "s2"]) {
      for (const search of [undefined, "NEW t", "asset-1"]) {
        const fits = model.assets.filter(
          (asset) =>
            (workspace === undefined || asset.workspace === workspace) &&
            (source === undefined || asset.source === source) &&
            (search === undefined ||
              `${asset.value}\n${asset.title}`.toLowerCase().includes(search.toLowerCase())),
        );
        const found = await assetValues(test, { workspace, source, search });
        expect({ workspace, source, search, ...found }).toEqual({
          workspace,
          source,
          search,
          ...pageOf(fits, ({ value }) => value, EVERYTHING),
        });
      }
    }
  }
}

describe("lists", () => {
  it("are exact at any offset from either end after any sequence of creations, changes and indexing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(work, { minLength: 5, maxLength: 25 }),
        fc.record({ offset: fc.nat(8), limit: fc.integer({ min: 1, max: 8 }), oldestFirst: fc.boolean() }),
        async (steps, page) => {
          const test = await testDeps();
          try {
            for (const name of WORKFLOWS) await storeWorkflow(test.deps, onTopic(name, `custom.${name}`));
            const model = new Model();
            for (const step of steps) {
              await perform(test, model, step);
              await expectExact(test, model, page);
            }
            await test.drain(["http"]);
            await sweepLists(test.deps);
            await expectExact(test, model, EVERYTHING);
            await expectAssets(test, model);
          } finally {
            await test.close();
          }
        },
      ),
      { numRuns: 12 },
    );
  }, 120_000);

  it("lose nothing and show nothing twice when the process crashes at a commit", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(work, { minLength: 10, maxLength: 25 }),
        fc.integer({ min: 1, max: 60 }),
        fc.nat(1_000),
        async (steps, crashAtCommit, seed) => {
          const folder = await mkdtemp(join(tmpdir(), "weft-lists-"));
          const clock = testClock();
          const model = new Model();
          try {
            const before = await testDeps({ folder, clock });
            for (const name of WORKFLOWS) await storeWorkflow(before.deps, onTopic(name, `custom.${name}`));
            await before.close();
            const dying = await testDeps({ folder, clock, hostile: { seed, crashAtCommit } });
            try {
              for (const step of steps) await perform(dying, model, step);
            } catch (error) {
              if (!isCrash(error)) throw error;
            }
            await dying.close();

            const test = await testDeps({ folder, clock });
            for (let round = 0; round < 4; round += 1) {
              await test.drain(["http"]);
              clock.advance(5 * 60_000);
              await resendPending(test.deps, 100);
              await resendStalledRuns(test.deps);
              await sweepLists(test.deps);
            }
            await expectWhole(test, model);
            await test.close();
          } finally {
            await rm(folder, { recursive: true, force: true });
          }
        },
      ),
      { numRuns: 20 },
    );
  }, 120_000);
});

/** Everything acknowledged exists once; writes in progress at the crash may exist or not. */
async function expectWhole(test: TestDeps, model: Model): Promise<void> {
  const runs = await runIds(test);
  expect(new Set(runs.ids).size).toBe(runs.total);
  expect(model.runs.filter(({ id }) => !runs.ids.includes(id))).toEqual([]);
  const statuses = await Promise.all(
    ["completed", "failed", "cancelled", "pending", "running"].map((status) => runIds(test, { status })),
  );
  expect(statuses.flatMap(({ ids }) => ids).toSorted()).toEqual(runs.ids.toSorted());
  expect(statuses.reduce((sum, { total }) => sum + total, 0)).toBe(runs.total);

  const all = await listAssets(test.deps, {}, EVERYTHING);
  const assets = await collectPages(all.items);
  expect(assets).toHaveLength(all.total);
  const nameOf = (workspace: string, value: string): string => `${workspace}/${value}`;
  const names = assets.map(({ workspace, asset_value }) => nameOf(workspace, asset_value));
  expect(new Set(names).size).toBe(all.total);
  expect(model.assets.filter(({ workspace, value }) => !names.includes(nameOf(workspace, value)))).toEqual(
    [],
  );
  for (const source of ["s1", "s2"]) {
    const found = await assetValues(test, { source });
    const fits = assets.filter((asset) => asset.source === source).map(({ asset_value }) => asset_value);
    expect([found.total, found.ids]).toEqual([fits.length, fits]);
  }
  const letters = await letterIds(test);
  expect(new Set(letters.ids).size).toBe(letters.total);
}

describe("a list", () => {
  let test: TestDeps;
  beforeEach(async () => {
    test = await testDeps();
  });
  afterEach(() => test.close());

  it("has no pending entries after its consumer has run", async () => {
    await storeWorkflow(test.deps, onTopic("one", "custom.one"));
    await startRun(test.deps, { module: "one" });
    await emitEvent(test.deps, { topic: "assets.new", data: { value: "a" } });
    await test.drain();
    const left = await Promise.all(
      ["runs#pending", "runs#entry", "assets#pending"].flatMap((kind) =>
        [0, 1].map((shard) =>
          test.deps.tables.query({ name: "list-entries", indexes: {} }, { pk: `${kind}#${shard}` }),
        ),
      ),
    );
    expect(left.flatMap(({ items }) => items)).toEqual([]);
    expect([await test.deps.lists.runs.last(), await test.deps.lists.assets.last()]).toEqual([1, 1]);
  });

  it("indexes texts that are too long for one transaction in several", async () => {
    const title = "x".repeat(16_000);
    for (let number = 0; number < 12; number += 1)
      await emitEvent(test.deps, { topic: "assets.new", data: { value: `v${number}`, title } });
    await test.drain();
    for (let number = 0; number < 12; number += 1)
      await emitEvent(test.deps, { topic: "assets.new", data: { value: `v${number}`, title: `${title}y` } });
    await test.drain();
    expect((await assetValues(test, { search: "xy" })).total).toBe(12);
    expect((await assetValues(test, { search: "v11" })).ids).toEqual(["v11"]);
    expect((await assetValues(test, { search: "xxx" })).total).toBe(12);
  });
});
