import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { resendPending } from "../../events/log/process.ts";
import type { CommandRequest } from "../../platform/commands.ts";
import type { HostileOptions } from "../../platform/embedded/hostile.ts";
import { isCrash, type TestDeps, testClock, testDeps } from "../../testing/test-deps.ts";
import { readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { listHistory, listSteps } from "./read.ts";
import { resendStalledRuns } from "./resend-stalled.ts";
import { startBody, startRun } from "./start.ts";

const MODULE = `
name: looped
params: [{name: depth, default: "1"}]
hooks: {post_scan_steps: [{name: after-looped, command: "echo {{depth}}"}]}
steps:
  - {name: begin, type: bash, command: "echo begin", decision: {switch: "{{begin_output}}", default: {goto: work}}}
  - {name: passed-over, type: bash, command: "echo never"}
  - {name: work, type: bash, command: "flaky {{attempt}}", retry: {max_attempts: 4, delay: 1s}, exports: {made: "{{work_output}}"}}
`;
const FLOW = `
name: f
hooks:
  pre_scan_steps: [{name: before, command: "fail before"}]
  post_scan_steps: [{name: after, command: "echo {{made}}"}]
modules:
  - {name: one, path: looped, params: {depth: "2"}, on_success: [{action: export, name: told, value: "yes"}]}
  - name: graph
    steps:
      - {name: a, type: bash, command: "echo a"}
      - {name: b, type: bash, command: "echo b", depends_on: [a]}
      - {name: c, type: bash, command: "fail c", depends_on: [a], on_error: [{action: continue}]}
      - {name: d, type: parallel-steps, depends_on: [b, c], parallel_steps: [{name: d1, type: bash, command: "echo d1"}, {name: d2, type: bash, command: "echo d2"}]}
  - {name: left-out, steps: [{name: out, type: bash, command: "echo out"}]}
  - name: broken
    on_error: [{action: continue}]
    steps: [{name: breaks, type: bash, command: "fail breaks"}, {name: unseen, type: bash, command: "echo unseen"}]
  - name: last
    depends_on: [one, graph, broken]
    condition: "told == 'yes'"
    steps:
      - {name: each, type: foreach, input: ["1", "2"], variable: n, step: {name: item, type: bash, command: "echo [[n]]"}}
`;

/** Fails depending on its text; flaky commands fail at their first attempt. */
const command = async ({ argv, env }: CommandRequest): Promise<{ exitCode?: number; stdout?: string }> => {
  const text = argv.at(-1) ?? "";
  if (text.startsWith("fail") || (text.startsWith("flaky") && env.W1 === "1")) return { exitCode: 3 };
  return { stdout: text.startsWith("flaky") ? "done\n" : `${text} ${env.W1 ?? ""}\n` };
};

/** Longer than the visibility timeout of a message whose receiver died, in rounds of the clock. */
const QUIET_ROUNDS = 8;

/** Advances the clock, with timers and sweeps, until nothing is left to do. */
async function recover(test: TestDeps): Promise<void> {
  let quiet = 0;
  for (let round = 0; quiet < QUIET_ROUNDS; round += 1) {
    if (round > 60) throw new Error("the sweeps find no end");
    await test.tick();
    test.clock.advance(5 * 60_000);
    await test.tick();
    const sent = (await resendPending(test.deps, 100)) + (await resendStalledRuns(test.deps));
    quiet = sent === 0 ? quiet + 1 : 0;
  }
}

/** How the run ended and everything that was recorded of it, except the number of attempts, which is random. */
async function outcomeOf(test: TestDeps) {
  const [run, ...others] = await readRuns(test.deps);
  expect(others).toEqual([]);
  const { run_id = "", status, completed_steps, total_steps, error_message } = run ?? {};
  const steps = (await listSteps(test.deps, run_id)).map((step) => {
    const { module, step_name, output, error_message: error, exports } = step;
    return { module, step_name, status: step.status, output, error, exports };
  });
  const history = await listHistory(test.deps, run_id);
  const modules = history.flatMap((entry) =>
    entry.type === "module.finished" ? [`${entry.module} ${entry.status}`] : [],
  );
  const finished = history.flatMap((entry) =>
    entry.type === "step.finished" ? [`${entry.key} ${entry.total ?? ""}`] : [],
  );
  const log = await readLog(test.deps);
  const topics = log.records.map(({ topic }) => topic).toSorted();
  expect(log.records.filter(({ processed, error }) => !processed || error !== "")).toEqual([]);
  const byName = JSON.stringify;
  return {
    status,
    completed_steps,
    total_steps,
    error_message,
    topics,
    steps: steps.toSorted((a, b) => (byName(a) < byName(b) ? -1 : 1)),
    modules: modules.toSorted(),
    finished: finished.toSorted(),
  };
}

const begin = async ({ deps }: TestDeps): Promise<void> => {
  await storeWorkflow(deps, MODULE);
  await storeWorkflow(deps, FLOW);
  const params = { exclude_modules: "left-out" };
  await startRun(deps, startBody.parse({ flow: "f", target: "t", params }));
};

const script = async ({
  code,
  variables,
}: {
  code: string;
  variables: Readonly<Record<string, unknown>>;
}) => ({
  value: Function(...Object.keys(variables), `return (${code})`)(...Object.values(variables)) as unknown,
});

async function withMishap(hostile?: HostileOptions): Promise<Awaited<ReturnType<typeof outcomeOf>>> {
  const folder = await mkdtemp(join(tmpdir(), "weft-hostile-flow-"));
  const clock = testClock();
  const options = { folder, clock, command, script };
  try {
    const calm = await testDeps(options);
    await begin(calm);
    await calm.close();
    const rough = await testDeps({ ...options, ...(hostile === undefined ? {} : { hostile }) });
    try {
      await recover(rough);
    } catch (error) {
      if (!isCrash(error)) throw error;
    }
    await rough.close().catch(() => undefined);
    const after = await testDeps(options);
    await recover(after);
    const outcome = await outcomeOf(after);
    await after.close();
    return outcome;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

let plain: Awaited<ReturnType<typeof outcomeOf>>;
beforeAll(async () => {
  plain = await withMishap();
});

it("a flow with all features completes without faults", () => {
  expect(plain).toMatchObject({ status: "completed", error_message: "" });
  expect(plain.modules).toEqual([
    "0 completed",
    "1 completed",
    "2 completed",
    "3 skipped",
    "4 failed",
    "5 completed",
    "6 completed",
  ]);
  const named = Object.fromEntries(
    plain.steps.map(({ step_name, output, status }) => [step_name, output || status]),
  );
  expect(named).toMatchObject({ before: "failed", work: "done", breaks: "failed", c: "failed" });
  expect(Object.values(named)).toContain('echo "${W1}" done');
  expect(Object.keys(named)).not.toEqual(expect.arrayContaining(["passed-over"]));
});

it.each([1, 2, 3, 4, 5, 6])(
  "it ends the same with duplicate, late and reordered messages (seed %i)",
  async (seed) => {
    expect(await withMishap({ seed, duplicates: 0.3, reorders: 0.3, indexLagMs: 50 })).toEqual(plain);
  },
);

it.each(Array.from({ length: 14 }, (_, at) => 2 + at * 5))(
  "it ends the same if the process dies at commit %i",
  async (crashAtCommit) => {
    const hostile = { seed: crashAtCommit, duplicates: 0.1, reorders: 0.1, crashAtCommit };
    expect(await withMishap(hostile)).toEqual(plain);
  },
);
