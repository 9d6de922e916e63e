import { afterEach, beforeEach, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import { conduct } from "./conduct.ts";
import { forgetKeptRuns, keepRun, takeKeptRun } from "./kept-runs.ts";
import { getRun } from "./read.ts";
import { startBody, startRun } from "./start.ts";
import { runKey, runsTable, type StoredRun } from "./table.ts";

const TWO =
  'name: two\nsteps:\n  - {name: a, type: bash, command: "echo a"}\n  - {name: b, type: bash, command: "echo b"}\n';

let test: TestDeps;
let runId: string;
beforeEach(async () => {
  test = await testDeps();
  await storeWorkflow(test.deps, TWO);
  runId = (await startRun(test.deps, startBody.parse({ module: "two", target: "t" }))).run_id;
  await test.drain(["bash"]);
});
afterEach(() => test.close());

const stored = async (): Promise<StoredRun> =>
  (await test.deps.tables.get(runsTable, runKey(runId))) as StoredRun;
const result = (dispatch: number) =>
  ({ type: "result", key: dispatch === 1 ? "a" : "b", dispatch, status: "completed" }) as const;

it("a run that something else has changed is read again", async () => {
  const old = takeKeptRun(test.deps, runId) as StoredRun;
  expect(old).toEqual(await stored());
  await test.deps.tables.write([{ op: "put", table: runsTable, item: { ...old, version: old.version + 1 } }]);
  keepRun(test.deps, old);
  await conduct(test.deps, { run_id: runId, input: result(1) });
  expect((await stored()).version).toBe(old.version + 2);
  await test.drain();
  expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed" });
});

it("an input that means nothing to the kept run is decided from the stored one", async () => {
  const old = takeKeptRun(test.deps, runId) as StoredRun;
  await conduct(test.deps, { run_id: runId, input: result(1) });
  expect(takeKeptRun(test.deps, runId)?.version).toBe(old.version + 1);
  keepRun(test.deps, old);
  await conduct(test.deps, { run_id: runId, input: result(2) });
  expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed" });
});

it("no finished run is kept, and none if other processes change runs", async () => {
  const run = takeKeptRun(test.deps, runId) as StoredRun;
  keepRun({ ...test.deps, outbox: { commit: test.deps.outbox.commit } }, run);
  expect(takeKeptRun(test.deps, runId)).toBeUndefined();
  await test.drain();
  expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed" });
  expect(takeKeptRun(test.deps, runId)).toBeUndefined();
});

it("no large run is kept, and a run that has become large is forgotten", async () => {
  const run = takeKeptRun(test.deps, runId) as StoredRun;
  const [frame] = Object.values(run.state.frames);
  const frames = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`a#${at}`, { ...frame }]));
  const large = [
    { ...run, params: { text: "x".repeat(20_000) } },
    { ...run, state: { ...run.state, frames } },
  ] as StoredRun[];
  for (const one of large) {
    keepRun(test.deps, run);
    keepRun(test.deps, one);
    expect(takeKeptRun(test.deps, runId)).toBeUndefined();
  }
});

it("an idle server forgets the kept runs", async () => {
  const run = takeKeptRun(test.deps, runId) as StoredRun;
  keepRun(test.deps, run);
  forgetKeptRuns(test.deps);
  expect(takeKeptRun(test.deps, runId)).toBeUndefined();
  await test.drain();
  expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed" });
});
