import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { CallHost } from "../../platform/scripts.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { readRuns, runValues, storeWorkflow } from "../../testing/test-workflows.ts";
import { getRun } from "../runs/read.ts";
import { startRun } from "../runs/start.ts";
import { runKey, runsTable } from "../runs/table.ts";
import { handleHostCall } from "./host-calls.ts";

let open: TestDeps;
afterEach(() => open.close());

const stop = new AbortController().signal;
type Answer = { records?: { run_id: string }[]; error?: string };

const CHILD =
  'name: child\nparams: [{name: need, required: true}]\nsteps:\n  - {name: s, type: bash, command: "echo {{need}}"}\n';
const FLOW = "name: both\nkind: flow\nmodules:\n  - {name: child, path: child}\n";
const OFF =
  'name: off\ntriggers: [{name: hand, type: manual, enabled: false}]\nsteps:\n  - {name: s, type: bash, command: "true"}\n';

/** Function steps of the workflow `parent`; `work` is executed by their scripts. */
async function parent(
  steps: string,
  work: (ask: (input: Record<string, unknown>) => Promise<Answer>, code: string) => Promise<unknown>,
): Promise<string> {
  open = await testDeps({
    script: async ({ callHost: ask, code }) => ({
      value:
        (await work(async (input) => (await (ask as CallHost)("run", input, stop)) as Answer, code)) ?? null,
    }),
  });
  for (const yaml of [CHILD, FLOW, OFF, `name: parent\nsteps:\n${steps}`])
    await storeWorkflow(open.deps, yaml);
  return (await startRun(open.deps, { module: "parent", target: "t" })).run_id;
}

const children = async () =>
  (await readRuns(open.deps)).filter(({ workflow_name }) => workflow_name !== "parent");
const STEP = "  - {name: s, type: function, function: \"run_module('child')\"}\n";
const asked = { module: "child", target: "a", params: { need: "x", port: 80 } };

describe("a script that starts runs", () => {
  it("gets the id of each immediately; they are ordinary runs, with one more hop", async () => {
    const ids: (string | undefined)[] = [];
    const runId = await parent(STEP, async (ask) => {
      for (const one of [
        asked,
        { ...asked, target: "b" },
        { flow: "both", target: "c", params: { need: "y" } },
      ])
        ids.push((await ask(one)).records?.[0]?.run_id);
    });
    await open.drain();
    expect((await getRun(open.deps, runId)).status).toBe("completed");
    expect(await children()).toHaveLength(3);
    for (const [index, id] of ids.entries()) {
      const stored = await open.deps.tables.get(runsTable, runKey(id ?? ""));
      expect(stored).toMatchObject({
        status: "completed",
        hop: 1,
        target: "abc"[index],
        run_group_id: id,
        trigger_type: "api",
        workflow_name: index === 2 ? "both" : "child",
      });
    }
  });

  it("starts each once, however often its step is retried", async () => {
    let times = 0;
    const retried =
      "  - {name: s, type: function, function: \"run_module('child')\", retry: {max_attempts: 3, delay: 1s}}\n";
    const seen = new Set<string | undefined>();
    const runId = await parent(retried, async (ask) => {
      times += 1;
      for (const _call of ["first", "second"]) seen.add((await ask(asked)).records?.[0]?.run_id);
      if (times < 3) throw new Error("not yet");
    });
    for (let round = 0; round < 4; round += 1) {
      await open.drain();
      open.clock.advance(2_000);
      await open.tick();
    }
    expect([times, (await getRun(open.deps, runId)).status]).toEqual([3, "completed"]);
    expect(seen.size).toBe(2);
    expect(await children()).toHaveLength(2);
  });

  it("gets the same through the conductor, from any executor without tables", async () => {
    const runId = await parent('  - {name: s, type: bash, command: "true"}\n', async () => undefined);
    // The calling step does not end.
    await open.drain(["bash"]);
    const ask = async (number: number, deps: object) => {
      const request = { key: "s", phase: "run", dispatch: number, attempt: number };
      const attempt = { deps: { ...open.deps, ...deps }, run: { run_id: runId }, request, number };
      const answer = handleHostCall(attempt as never, "run", asked, stop, "1.1");
      // The message is in its queue after the next commit.
      if (!("handleScriptCall" in deps)) return answer;
      await expect.poll(() => open.drain(["bash"])).toBeGreaterThan(0);
      return answer;
    };
    const first = (await ask(1, { handleScriptCall: undefined })) as Answer;
    expect(first).toEqual({ records: [{ run_id: expect.any(String) }], total: 1 });
    expect(await ask(2, {})).toEqual(first);
    expect(await ask(3, { handleScriptCall: undefined })).toEqual(first);
    await open.drain();
    expect(await children()).toMatchObject([{ run_id: first.records?.[0]?.run_id, status: "completed" }]);
  });

  it("passes no secret on", async () => {
    await parent(STEP, async (ask) => {
      await writeFile(join(open.folder, "secrets.env"), "KEY=hunter-22-hunter\n", { mode: 0o600 });
      await open.deps.secrets.get("KEY");
      return ask({ ...asked, params: { need: "hunter-22-hunter" } });
    });
    await open.drain();
    const runs = await children();
    expect(runs).toHaveLength(1);
    expect(JSON.stringify([runs, await runValues(open.deps, runs[0]?.run_id ?? "")])).not.toContain(
      "hunter-22",
    );
  });

  it("starts one for each script of a step, each item of a loop, and each round of a goto", async () => {
    let left = 2;
    await parent(
      [
        "  - {name: alike, type: function, parallel_functions: [\"run_module('child')\", \"run_module('child')\"]}",
        "  - name: each\n    type: foreach\n    input: [a, b, c]\n    variable: x\n    parallel: 3",
        "    step: {name: item, type: function, function: \"run_module('child')\"}",
        '  - {name: again, type: function, function: "run_module(\'child\')", decision: {switch: "{{again_output}}", cases: {"1": {goto: again}, "0": {goto: _end}}}}',
      ].join("\n"),
      async (ask, code) => {
        if (!code.includes("run_module")) return true;
        await ask(asked);
        left -= 1;
        return left === -4 ? 1 : 0;
      },
    );
    await open.drain();
    expect(await children()).toHaveLength(7);
  });

  it.each([
    [{ module: "none", target: "a" }, /none/],
    [{ module: "both", target: "a" }, /is a flow/],
    [{ flow: "child", target: "a" }, /is a module/],
    [{ module: "child", target: "a" }, /params: .*need/],
    [{ module: "child", target: "a", params: { need: ["x"] } }, /need: must be text/],
    [{ module: "child", target: "a", params: "need" }, /params: must be an object/],
    [{ module: "child", target: "t".repeat(100_000), params: { need: "x" } }, /target/],
    [{ module: "off", target: "a" }, /cannot be started manually/],
  ])("gets the error: %j", async (input, error) => {
    let answer: Answer = {};
    await parent(STEP, async (ask) => {
      answer = await ask(input);
    });
    await open.drain();
    expect(answer).toEqual({ error: expect.stringMatching(error) });
    expect(await children()).toEqual([]);
  });

  it("is stopped at the hop limit", async () => {
    const errors: unknown[] = [];
    await parent(STEP, async (ask) => {
      const answer = await ask({ module: "parent", target: "t" });
      if (answer.error !== undefined) errors.push(answer.error);
    });
    await open.drain();
    expect(errors).toEqual(["more than 8 runs triggered one another"]);
    expect(await readRuns(open.deps)).toHaveLength(9);
  });

  it("starts nothing after its run has ended, and respects the limit", async () => {
    const runId = await parent(STEP, async (ask) => {
      for (let count = 0; count < 1_000; count += 1) await ask({ module: "none", target: "a" });
      await ask(asked);
    });
    await open.drain();
    expect(await getRun(open.deps, runId)).toMatchObject({
      status: "failed",
      error_message: /at most 1000 runs/,
    });
    const late = { of: "new run", call_id: "late", module: "child", target: "a", params: { need: "x" } };
    expect(await open.deps.handleScriptCall(runId, late)).toEqual({ error: "the calling run has finished" });
    expect(await children()).toEqual([]);
  });
});
