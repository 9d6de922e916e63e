import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { waitingShells } from "../../lib/platform/embedded/runner/test-runner.ts";
import {
  type StepRecord,
  startTestServer,
  type TestClient,
  waitUntil,
} from "../../lib/testing/test-server.ts";
import { sharedServer } from "./shared-server.ts";

const shared = sharedServer();
let weft: TestClient = shared;
/** Process id of a server whose runs begin when shells wait for their steps. */
let withShells: number | undefined;
let count = 0;

/** Runs a workflow of the given steps (YAML). Returns the run with its steps and workspace folder. */
async function runSteps(steps: string, body: Record<string, unknown> = {}) {
  count += 1;
  const name = `bash-${process.pid}-${count}`;
  await weft.storeWorkflow(`name: ${name}\nsteps:\n${steps}`);
  const pid = withShells;
  if (pid !== undefined) await waitUntil("waiting shells", async () => (await shellsOf(pid)).length > 0);
  const run = await weft.run({ module: name, workspace: name, ...body });
  return { ...run, steps: await weft.steps(run.run_id), folder: join(weft.dataDir, "workspaces", name) };
}
const outputs = (steps: Readonly<Record<string, StepRecord>>) =>
  Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, step.output]));

/** Ids of the shells that wait for steps of a server. */
async function shellsOf(serverPid: number): Promise<number[]> {
  const children = await readFile(`/proc/${serverPid}/task/${serverPid}/children`, "utf8");
  const shells = await Promise.all(children.split(" ").map((pid) => waitingShells(Number(pid))));
  return shells.flat();
}

describe.each(["as shells are there", ...(process.platform === "linux" ? ["in pre-started shells"] : [])])(
  "%s",
  (how) => {
    beforeAll(async () => {
      if (how === "as shells are there") return;
      const server = await startTestServer();
      weft = server;
      await runSteps('  - {name: s, type: bash, command: "true"}');
      withShells = server.pid;
      return async () => {
        weft = shared;
        withShells = undefined;
        await server[Symbol.asyncDispose]();
      };
    });

    describe("seed 2.7: bash steps", () => {
      test("runs command, commands in order, and parallel_commands in parallel", async () => {
        const { status, steps } = await runSteps(`
  - {name: one, type: bash, command: "echo a; echo b >&2; echo c"}
  - {name: list, type: bash, commands: ["echo 1 > f", "cat f; echo 2 > f", "cat f"]}
  - name: side
    type: bash
    parallel_commands:
      - "touch left; until [ -f right ]; do sleep 0.01; done; echo left"
      - "touch right; until [ -f left ]; do sleep 0.01; done; echo right"
    timeout: 20
`);
        expect(status).toBe("completed");
        expect(outputs(steps)).toEqual({ one: "a\nc", list: "1\n2", side: "left\nright" });
        expect(steps["one"]?.command).toBe("echo a; echo b >&2; echo c");
      });

      test("commands stop at the first failure; the error has the exit code and the end of standard error", async () => {
        const { status, steps, error_message } = await runSteps(`
  - {name: s, type: bash, commands: ["echo 1 >> f", "echo 'no such luck' >&2; exit 9", "echo 2 >> f"], on_error: [{action: continue}]}
  - {name: show, type: bash, command: "cat f"}
  - {name: signal, type: bash, command: "kill -9 $$"}
`);
        expect(steps["s"]).toMatchObject({
          status: "failed",
          error_message: "command failed with exit code 9: no such luck",
        });
        expect(steps["show"]?.output).toBe("1");
        expect([status, error_message]).toEqual(["failed", "command was ended by SIGKILL"]);
      });

      test("a failing parallel command fails the step after the others end", async () => {
        const { status, folder } = await runSteps(`
  - {name: s, type: bash, parallel_commands: ["exit 2", "sleep 0.2; touch done"]}
`);
        expect(status).toBe("failed");
        expect(await readdir(folder)).toContain("done");
      });

      test("runs bash in the run's workspace, with the run's variables and without the server's environment", async () => {
        const { steps, folder, run_id } = await runSteps(`
  - {name: pwd, type: bash, command: "pwd; [[ -n x && {{Output}} == \\"$PWD\\" ]] && echo output"}
  - {name: env, type: bash, command: "echo $WEFT_RUN_ID $WEFT_STEP $WEFT_ATTEMPT $WEFT_WORKFLOW; env | grep -c ACCESS_TOKEN"  , on_error: [{action: continue}]}
  - {name: names, type: bash, command: "echo {{RunUUID}} {{Workspace}} {{WorkflowName}}"}
`);
        const name = folder.split("/").at(-1);
        expect(steps["pwd"]?.output).toBe(`${folder}\noutput`);
        expect(steps["env"]?.error_message).toMatch(/exit code 1/);
        expect(steps["names"]?.output).toBe(`${run_id} ${name} ${name}`);
        const log = await readFile(join(weft.dataDir, "runs", run_id, steps["pwd"]?.log_file ?? ""), "utf8");
        expect(log).toBe(`${folder}\noutput\n`);
      });

      test("std_file contains the output; arguments follow the command in order", async () => {
        const { steps, folder } = await runSteps(`
  - {name: s, type: bash, command: echo, output_args: d, input_args: c, config_args: b, speed_args: a, std_file: out.txt}
`);
        expect(steps["s"]?.output).toBe("a b c d");
        expect(await readFile(join(folder, "out.txt"), "utf8")).toBe("a b c d");
      });
    });

    describe("common step fields", () => {
      test("pre_condition is an expression over variables; an invalid one fails the step", async () => {
        const { steps, status } = await runSteps(
          `
  - {name: make, type: bash, command: "echo 5; echo x > there"}
  - {name: yes, type: bash, pre_condition: 'parse_int("{{make_output}}") > 4 && file_exists("there")', command: "echo ran"}
  - {name: no, type: bash, pre_condition: '!file_exists("{{Output}}/there")', command: "echo ran"}
  - {name: word, type: bash, pre_condition: 'contains("{{Target}}", "exam") && word == "w"', command: "echo ran"}
  - {name: broken, type: bash, pre_condition: "nothing(", command: "echo ran"}
`,
          { target: "example", params: { word: "w" } },
        );
        expect(Object.values(steps).map((step) => step.status)).toEqual([
          "completed",
          "completed",
          "skipped",
          "completed",
          "failed",
        ]);
        expect(status).toBe("failed");
      });

      test("renders log into the server's log", async () => {
        await runSteps(
          `
  - {name: s, type: bash, log: "Looking at {{Target}} now", command: "true"}
`,
          { target: "the-target" },
        );
        expect(weft.log()).toContain("Looking at the-target now");
      });

      test("exports are the output, a call, a template or text, and later steps use them", async () => {
        const { steps } = await runSteps(`
  - name: make-it
    type: bash
    command: "printf ' [1, 2]'"
    exports:
      whole: output
      call: trim(output)
      second: jq(output, ".[1]")
      templated: "<{{make_it_output}}>"
      lone: "{{make_it_output}}"
      words: "output is plain"
  - {name: use, type: bash, command: "printf '%s|' {{whole}} {{call}} {{second}} {{templated}} {{lone}} {{words}} {{make_it_output}}"}
`);
        expect(steps["make-it"]?.exports).toEqual({
          make_it_output: "[1, 2]",
          whole: "[1, 2]",
          call: "[1, 2]",
          second: "2",
          templated: "<[1, 2]>",
          lone: "[1, 2]",
          words: "output is plain",
        });
        expect(steps["use"]?.output).toBe("[1, 2]|[1, 2]|2|<[1, 2]>|[1, 2]|output is plain|[1, 2]|");
      });

      test("an invalid export fails the step", async () => {
        const { steps } = await runSteps(`
  - {name: s, type: bash, command: "echo a", exports: {x: "no_such_function(1)"}}
`);
        expect(steps["s"]).toMatchObject({
          status: "failed",
          error_message: expect.stringContaining("no_such_function"),
        });
      });

      test("on_success and on_error log, export, run, and continue under a condition", async () => {
        const { status, steps, folder } = await runSteps(`
  - name: good
    type: bash
    command: "echo 1"
    on_success:
      - {action: log, message: "good said {{good_output}}"}
      - {action: export, name: made, value: "v{{good_output}}"}
      - {action: run, type: bash, command: "touch by-action"}
      - {action: run, type: function, function: 'log_info("by function")'}
  - name: bad
    type: bash
    command: "exit 5"
    on_error:
      - {action: continue, condition: "1 > 2"}
      - {action: export, name: reason, value: "{{error}}"}
      - {action: continue, condition: 'contains(error, "code 5")'}
  - {name: after, type: bash, command: "echo {{made}} {{reason}}"}
  - name: worse
    type: bash
    command: "exit 6"
    on_error: [{action: continue}, {action: abort}]
  - {name: never, type: bash, command: "true"}
`);
        expect(steps["after"]?.output).toBe("v1 command failed with exit code 5");
        expect(await readdir(folder)).toContain("by-action");
        expect(weft.log()).toContain("good said 1");
        expect([status, Object.keys(steps)]).toEqual(["failed", ["good", "bad", "after", "worse"]]);
      });

      test("timeout is in seconds, a duration or a template, and ends the whole process group", async () => {
        const { steps, folder } = await runSteps(
          `
  - {name: seconds, type: bash, timeout: 1, command: "sleep 60 & echo $! > pid; wait", on_error: [{action: continue}]}
  - {name: duration, type: bash, timeout: 150ms, command: "sleep 60", on_error: [{action: continue}]}
  - {name: templated, type: bash, timeout: "{{wait}}", commands: ["sleep 0.1", "sleep 60"], on_error: [{action: continue}]}
  - {name: enough, type: bash, timeout: 1m, command: "echo done"}
  - {name: odd, type: bash, timeout: "{{Target}}", command: "true"}
`,
          { params: { wait: "250ms" }, target: "soon" },
        );
        for (const name of ["seconds", "duration", "templated"]) {
          expect(steps[name]).toMatchObject({
            status: "failed",
            error_message: expect.stringContaining("timed out"),
          });
        }
        expect(steps["seconds"]?.duration_ms).toBeGreaterThanOrEqual(1000);
        expect(steps["seconds"]?.duration_ms).toBeLessThan(5000);
        expect(steps["enough"]?.status).toBe("completed");
        expect(steps["odd"]?.error_message).toMatch(/timeout.*soon/);
        const pid = Number(await readFile(join(folder, "pid"), "utf8"));
        await waitUntil("the end of the process", () => {
          try {
            return process.kill(pid, 0) && false;
          } catch {
            return true;
          }
        });
      });

      test("an unknown variable renders as empty text; bash's [[ ]] and ${} are unchanged", async () => {
        const { steps } = await runSteps(`
  - {name: s, type: bash, command: 'x=5; [[ -d . ]] && echo "\${x}{{nothing}}\${x:-y}"'}
`);
        expect(steps["s"]?.output).toBe("55");
      });
    });
  },
);
