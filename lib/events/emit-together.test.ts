import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Commit, Outbox } from "../platform/outbox.ts";
import { type TestDeps, testDeps } from "../testing/test-deps.ts";
import { onTopic, readLog, readRuns, storeWorkflow } from "../testing/test-workflows.ts";
import { assetsTable } from "../workflows/assets/table.ts";
import { emitAll, emitBody, emitEvent } from "./emit.ts";
import { recordStaged, resendStaged } from "./emit-together.ts";
import { stagedEventsTable, tailPartitions } from "./log/table.ts";
import { EVENT_RESEND_AFTER_MS } from "./publish.ts";
import { readAll } from "./read-all.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const plain = (count: number, data: Record<string, unknown> = {}) =>
  Array.from({ length: count }, (_, n) => ({ topic: "custom.plain", name: `n${n}`, data }));
const readStaged = async ({ deps }: TestDeps) =>
  (await Promise.all(tailPartitions("staged").map((pk) => readAll(deps, stagedEventsTable, { pk })))).flat();
/** The events of callers, in the order in which they were recorded; the indexer numbers them nearly so. */
const readOwn = async ({ deps }: TestDeps) =>
  (await readLog(deps, { source: "api" })).records.toSorted((one, other) =>
    one.event_id < other.event_id ? -1 : 1,
  );
const namesOf = async (of: TestDeps) => (await readOwn(of)).map(({ name }) => name);

/** Stores workflows whose triggers the events of `plain` fire. */
async function storeTriggers(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await storeWorkflow(test.deps, onTopic(`heard-${n}`, "custom.plain"));
}

/** Fails the commits after the first `count`, as a crash between them does. */
function crashAfter(outbox: Outbox, count: number): Outbox {
  let commits = 0;
  return {
    commit: async (commit: Commit) => {
      commits += 1;
      if (commits > count) throw new Error("the process ended");
      return outbox.commit(commit);
    },
  };
}

describe("emitting several events", () => {
  it("returns their responses and records them in order, before and after they are indexed", async () => {
    await storeWorkflow(test.deps, onTopic("heard", "custom.heard"));
    const bodies = [...plain(400), { topic: "custom.heard", name: "n400" }, ...plain(1)];
    const responses = await emitAll(test.deps, bodies);
    expect(responses.map(({ topic }) => topic)).toEqual(bodies.map(({ topic }) => topic));
    expect(responses.filter(({ triggered_workflows: started }) => started.length > 0)).toEqual([
      responses[400],
    ]);
    const ids = async () =>
      (await readLog(test.deps)).records.map(({ event_id }) => `evt_${event_id}`).toReversed();
    expect(await ids()).toEqual(responses.map(({ event_id }) => event_id));
    await test.drain();
    expect((await ids()).slice(0, bodies.length)).toEqual(responses.map(({ event_id }) => event_id));
    expect(await readStaged(test)).toEqual([]);
    expect(await readRuns(test.deps)).toHaveLength(1);
  });

  it("does as many single emits do: log, order, triggers, assets", async () => {
    const topics = ["custom.plain", "custom.heard", "custom.once", "assets.new", "asset.discovered"];
    const event = fc.record({
      topic: fc.constantFrom(...topics),
      key: fc.nat({ max: 5 }),
      name: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
      workspace: fc.option(fc.constantFrom("w", "v"), { nil: undefined }),
    });
    const once = onTopic("once", "custom.once").replace(
      'topic: "custom.once"',
      'topic: "custom.once", dedupe_key: "{{event.data.value}}", dedupe_window: 1h',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 220 }), async (events) => {
        const bodies = events.map(({ key, ...rest }) =>
          emitBody.parse({ ...rest, data: { value: `k${key}` } }),
        );
        const outcomes = [];
        for (const together of [true, false]) {
          const own = await testDeps();
          try {
            for (const yaml of [once, onTopic("heard", "custom.heard"), onTopic("found", "asset.discovered")])
              await storeWorkflow(own.deps, yaml);
            const responses = [];
            if (together) responses.push(...(await emitAll(own.deps, bodies)));
            else for (const body of bodies) responses.push(await emitEvent(own.deps, body));
            await own.drain();
            const records = await readOwn(own);
            const runs = await readRuns(own.deps);
            outcomes.push({
              responses: responses.map(({ event_id: _, ...rest }) => rest),
              records: records.map(({ topic, name, workspace, data, processed }) => ({
                topic,
                name,
                workspace,
                data,
                processed,
              })),
              runs: runs.map(({ workflow_name }) => workflow_name).toSorted(),
              assets: (await own.deps.tables.scan(assetsTable, { limit: 100 })).items
                .map(({ workspace, asset_value }) => `${workspace}/${asset_value}`)
                .toSorted(),
            });
          } finally {
            await own.close();
          }
        }
        expect(outcomes[0]).toEqual(outcomes[1]);
      }),
      { numRuns: 12 },
    );
  });

  it("records a thousand events that each may fire many triggers", async () => {
    await storeTriggers(7);
    const bodies = plain(1_000);
    const responses = await emitAll(test.deps, bodies);
    expect(responses.every(({ triggered_workflows: started }) => started.length === 7)).toBe(true);
    expect(await namesOf(test)).toEqual(bodies.map(({ name }) => name));
    expect(await readStaged(test)).toEqual([]);
  });

  it("fires triggers that are added once the events are accepted", async () => {
    const once = onTopic("once", "custom.plain").replace(
      'topic: "custom.plain"',
      'topic: "custom.plain", dedupe_key: "same", dedupe_window: 1h',
    );
    let commits = 0;
    const commit: Outbox["commit"] = async (what) => {
      const outcome = await test.deps.outbox.commit(what);
      commits += 1;
      if (commits === 1)
        for (const yaml of [onTopic("late", "custom.plain"), once]) await storeWorkflow(test.deps, yaml);
      return outcome;
    };
    const responses = await emitAll({ ...test.deps, outbox: { commit } }, plain(300));
    const started = responses.map(({ triggered_workflows }) => triggered_workflows.toSorted());
    expect(started).toEqual([["late", "once"], ...Array.from({ length: 299 }, () => ["late"])]);
    const again = await emitEvent(test.deps, { topic: "custom.plain", data: {} });
    expect(again.triggered_workflows).toEqual(["late"]);
    expect(await readStaged(test)).toEqual([]);
  });

  it("records nothing if an event is refused", async () => {
    const bodies = plain(300);
    await expect(emitAll(test.deps, [...bodies, { topic: "  " }])).rejects.toThrow(
      expect.objectContaining({ code: "bad_request", message: "300.topic: must not be empty" }),
    );
    expect((await readLog(test.deps)).total).toBe(0);
    expect(await readStaged(test)).toEqual([]);
  });

  it("stores large data in blobs, and removes those of accepted events", async () => {
    const bodies = [...plain(100), ...plain(1, { text: "x".repeat(500_000) }), ...plain(100)];
    await emitAll(test.deps, bodies);
    const { records } = await readLog(test.deps);
    expect(records.map(({ data }) => data.length).toReversed()).toEqual(
      bodies.map(({ data }) => JSON.stringify(data).length),
    );
    expect(await test.deps.blobs.list("events/")).toHaveLength(1);
  });

  it("hides secrets in accepted events", async () => {
    const { writeFile } = await import("node:fs/promises");
    await writeFile(`${test.folder}/secrets.env`, "KEY=correct-horse-battery\n", { mode: 0o600 });
    await test.deps.secrets.get("KEY");
    const deps = { ...test.deps, outbox: crashAfter(test.deps.outbox, 1) };
    await expect(emitAll(deps, plain(300, { key: "correct-horse-battery" }))).rejects.toThrow();
    expect(JSON.stringify(await readStaged(test))).toContain("***");
    expect(JSON.stringify(await readStaged(test))).not.toContain("horse");
  });
});

describe("a crash while several events are recorded", () => {
  const names = plain(500).map(({ name }) => name);

  it("before they are accepted leaves none", async () => {
    const deps = { ...test.deps, outbox: crashAfter(test.deps.outbox, 0) };
    await expect(emitAll(deps, plain(500))).rejects.toThrow();
    await test.drain();
    expect((await readLog(test.deps)).total).toBe(0);
    expect(await readStaged(test)).toEqual([]);
  });

  it.each([1, 3])(
    "after they are accepted, in commit %s, loses none: the sweep continues",
    async (commits) => {
      const deps = { ...test.deps, outbox: crashAfter(test.deps.outbox, commits) };
      await expect(emitAll(deps, plain(500))).rejects.toThrow();
      await resendStaged(test.deps);
      await test.drain();
      expect((await readLog(test.deps)).total).toBeLessThan(500);
      test.clock.advance(EVENT_RESEND_AFTER_MS);
      await resendStaged(test.deps);
      await resendStaged(test.deps);
      await test.drain();
      expect(await namesOf(test)).toEqual(names);
      expect(await readStaged(test)).toEqual([]);
    },
  );

  it("at any point while they are recorded records each once, also by two processes", async () => {
    await storeTriggers(7);
    const crashing = () => ({ ...test.deps, outbox: crashAfter(test.deps.outbox, 1) });
    await expect(emitAll(crashing(), plain(500))).rejects.toThrow("the process ended");
    const [id = ""] = (await readStaged(test)).map(({ sk }) => sk.split("#", 1)[0]);
    const lefts = new Set<number>();
    for (let isDone = false; !isDone; ) {
      lefts.add((await readStaged(test)).reduce((sum, { left }) => sum + left, 0));
      const attempts = [0, 1].map(() => recordStaged(crashing(), id));
      isDone = (await Promise.allSettled(attempts)).some(({ status }) => status === "fulfilled");
    }
    expect(lefts.size).toBeGreaterThan(20);
    expect(await namesOf(test)).toEqual(names);
    expect(await readStaged(test)).toEqual([]);
  });

  it("loses none if triggers were added meanwhile that do not fit into the transaction", async () => {
    const deps = { ...test.deps, outbox: crashAfter(test.deps.outbox, 1) };
    await expect(emitAll(deps, plain(120))).rejects.toThrow();
    await storeWorkflow(test.deps, onTopic("late", "custom.plain"));
    test.clock.advance(EVENT_RESEND_AFTER_MS);
    await resendStaged(test.deps);
    await test.drain();
    expect(await namesOf(test)).toEqual(names.slice(0, 120));
  });
});
