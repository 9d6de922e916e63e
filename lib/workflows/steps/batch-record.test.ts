import { afterEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import { getRun, listSteps } from "../runs/read.ts";
import { startRun } from "../runs/start.ts";

let open: TestDeps;
afterEach(() => open.close());

const each = (more = "") => `name: w
steps:
  - {name: before, type: bash, command: "before"}
  - name: all
    type: foreach
    input: [a, b, c, d]
    variable: item
    step: {name: one, type: bash, command: "item [[item]]"}
    on_error: [{action: continue}]
${more}`;

/** Runs the workflow; a command meets the given number of platform faults. */
async function run(yaml: string, faults: Record<string, number>, fails: readonly string[] = []) {
  const work: string[] = [];
  open = await testDeps({
    command: async ({ env, argv }) => {
      const item = Object.entries(env).find(([name]) => /^W\d+$/.test(name))?.[1] ?? argv.at(-1) ?? "";
      work.push(item);
      const left = faults[item] ?? 0;
      faults[item] = left - 1;
      if (left > 0) throw Object.assign(new Error("it did not answer"), { code: "unavailable" });
      const visits = work.filter((one) => one === item).length;
      return {
        stdout: item === "loop" ? `visit-${visits}` : `out-${item}`,
        exitCode: fails.includes(item) ? 1 : 0,
      };
    },
  });
  await storeWorkflow(open.deps, yaml);
  const { run_id } = await startRun(open.deps, { module: "w" });
  await open.drain();
  const blobs = await open.deps.blobs.list(`runs/${run_id}/done/`);
  const steps = await listSteps(open.deps, run_id);
  return { ...(await getRun(open.deps, run_id)), work, blobs, steps };
}

describe("a foreach whose executor meets a platform fault", () => {
  it("runs only the items without results, and keeps the results of the others", async () => {
    const { status, work, steps, blobs } = await run(each(), { c: 2 });
    expect(status).toBe("completed");
    expect(work.filter((item) => item.length === 1)).toEqual(["a", "b", "c", "c", "c", "d"]);
    expect(steps.find(({ step_name }) => step_name === "all")?.output).toBe("out-a\nout-b\nout-c\nout-d");
    expect(blobs).toHaveLength(1);
  });

  it("remembers which items failed", async () => {
    const { work, steps } = await run(each(), { c: 1, d: 1 }, ["b"]);
    expect(work.filter((item) => item.length === 1)).toEqual(["a", "b", "c", "c", "d", "d"]);
    expect(steps.find(({ step_name }) => step_name === "all")).toMatchObject({
      status: "failed",
      error_message: "1 of 4 failed, the first: command failed with exit code 1",
    });
  });

  it("runs all items again after a goto", async () => {
    const loop =
      '  - {name: loop, type: bash, command: "loop", decision: {switch: "{{loop_output}}", cases: {visit-1: {goto: before}}}}\n';
    const { status, work } = await run(each(loop), { c: 1 });
    expect(status).toBe("completed");
    const items = work.filter((item) => item.length === 1);
    expect(items).toEqual(["a", "b", "c", "c", "d", "a", "b", "c", "d"]);
  });

  it("records nothing if it finishes quickly", async () => {
    expect(await run(each(), {})).toMatchObject({ status: "completed", blobs: [] });
  });
});
