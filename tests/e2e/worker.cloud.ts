import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";

const WEFT = fileURLToPath(new URL("../../bin/weft.js", import.meta.url));
const WAIT_MS = 60_000;
/** The minimum lease, so that a killed worker is detected soon. */
const LEASE_SECONDS = "5";

let folder: string;
let stack: string;
let weft: TestServer;
const workers: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-workers-"));
  stack = `weft-${randomUUID().slice(0, 8)}`;
  // The server has no worker; all steps that use files run on the separate workers.
  weft = await startTestServer({
    program: [process.execPath, WEFT, "start", "--localstack"],
    env: { WEFT_STACK: stack, WEFT_WORKER: "false" },
  });
});
afterEach(async () => {
  for (const worker of workers.splice(0))
    if (worker.exitCode === null && worker.signalCode === null) await end(worker, "SIGKILL");
  await weft[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function startWorker(name: string): Promise<ChildProcess> {
  const args = ["worker", "--stack", stack, "--data-dir", join(folder, name)];
  const child = spawn(process.execPath, [WEFT, ...args, "--concurrency", "1", "--lease", LEASE_SECONDS], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, WORKER_NAME: name },
  });
  workers.push(child);
  child.stderr?.resume();
  const [line] = (await once(child.stdout as NonNullable<typeof child.stdout>, "data")) as [Buffer];
  expect(line.toString()).toContain(`weft worker ready  stack=${stack}`);
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exited = once(child, "exit");
  child.kill(signal);
  const [code] = (await exited) as [number | null];
  return code;
}

/** Two parallel steps, long enough that each needs its own worker, then a step that reads the files of both. */
const ALTERNATING = `
name: alternating
params: [{name: greeting, default: "hello"}]
steps:
${[1, 2, 3]
  .map(
    (n) => `  - name: round${n}
    type: parallel-steps
    parallel_steps:
      - {name: left${n}, type: bash, command: "sleep 1.5; pwd > left${n}.where; echo left${n} >> left.txt; pwd"}
      - {name: right${n}, type: bash, command: "sleep 1.5; pwd > right${n}.where; echo right${n} >> right.txt; pwd"}
  - {name: sum${n}, type: bash, command: "cat left.txt right.txt > both.txt; wc -l < both.txt", exports: {file: "{{Output}}/both.txt"}}`,
  )
  .join("\n")}
  - {name: read, type: function, function: 'read_file("{{file}}")'}
`;

test("two workers with different folders run steps of one run on the same files", async () => {
  await startWorker("one");
  await startWorker("two");
  await weft.storeWorkflow(ALTERNATING);
  const runId = await weft.startRun({ module: "alternating", target: "shop" });
  const run = await weft.waitForRun(runId);
  expect(run).toMatchObject({ status: "completed", error_message: "" });
  const steps = await weft.steps(runId);
  expect([1, 2, 3].map((n) => steps[`sum${n}`]?.output)).toEqual(["2", "4", "6"]);
  expect(steps["read"]?.output.trim().split("\n").toSorted()).toEqual(
    [1, 2, 3].flatMap((n) => [`left${n}`, `right${n}`]).toSorted(),
  );
  // Exported paths do not depend on the worker.
  expect(steps["sum1"]?.exports["file"]).toBe("/weft/workspaces/shop/both.txt");
  expect(steps["left1"]?.output).toBe("/weft/workspaces/shop");
  // Both workers ran a step in every round, each in its own folder.
  const last = steps["read"]?.attempt;
  expect(last).toBe(1);
  const places = await Promise.all(
    [1, 2, 3].map(async (n) => {
      const texts = await Promise.all(["left", "right"].map((side) => readWorkerFile(`${side}${n}.where`)));
      return new Set(texts).size;
    }),
  );
  expect(places).toEqual([2, 2, 2]);
}, 120_000);

/** Reads a file from the folder of the worker that ran the last step, the only one with all files. */
async function readWorkerFile(file: string): Promise<string> {
  for (const name of ["one", "two"]) {
    const text = await readFile(join(folder, name, "workspaces", "shop", file), "utf8").catch(() => "");
    if (text !== "") return text.trim();
  }
  return "";
}

test("a file that a step writes fires a watch trigger once, and another worker reads it", async () => {
  await startWorker("one");
  await weft.storeWorkflow(`
name: reader
triggers: [{name: files, type: watch, path: "*/in/*.txt"}]
steps: [{name: read, type: bash, command: "sleep 2; cat {{Target}}; pwd > where"}]
`);
  await weft.storeWorkflow(`
name: maker
steps:
  - {name: make, type: bash, command: "mkdir -p in; echo hello > in/a.txt; echo no > in/b.json"}
  - {name: same, type: bash, command: "touch in/a.txt"}
  - {name: other, type: bash, command: "echo again > in/a.txt; sleep 2"}
`);
  await startWorker("two");
  const makerRun = await weft.waitForRun(await weft.startRun({ module: "maker", target: "shop" }));
  expect(makerRun.status).toBe("completed");
  const found = async (): Promise<RunRecord[]> =>
    (await weft.get<Page<RunRecord>>("/runs?workflow=reader")).data.toReversed();
  await waitUntil(
    "two runs that read",
    async () => (await found()).filter(({ status }) => status === "completed").length === 2,
    WAIT_MS,
  );
  const runs = await found();
  expect(runs.map(({ trigger_type, target, workspace }) => [trigger_type, target, workspace])).toEqual([
    ["watch", "/weft/workspaces/shop/in/a.txt", "shop"],
    ["watch", "/weft/workspaces/shop/in/a.txt", "shop"],
  ]);
  const outputs = await Promise.all(
    runs.map(async ({ run_id }) => (await weft.steps(run_id))["read"]?.output),
  );
  // The run reads the file later than the trigger fires, possibly after the second change.
  expect(outputs.at(-1)).toBe("again");
  expect(["hello", "again"]).toContain(outputs[0]);
  const fired = await weft.events({ topic: "schedule.triggered" });
  expect(fired.map(({ data }) => (JSON.parse(data) as { change: string }).change)).toEqual([
    "changed",
    "new",
  ]);
}, 120_000);

test("another worker retries the step of a killed worker on the files from before the step", async () => {
  const first = await startWorker("one");
  await weft.storeWorkflow(`
name: survives
steps:
  - {name: prepare, type: bash, command: "echo prepared > state.txt; mkdir made"}
  - {name: work, type: bash, command: "echo {{attempt}} >> state.txt; test {{attempt}} -gt 1 || sleep 600; cat state.txt; ls"}
  - {name: after, type: bash, command: "cat state.txt"}
`);
  const runId = await weft.startRun({ module: "survives", target: "s" });
  await waitUntil(
    "the step under way",
    async () =>
      (await readFile(join(folder, "one", "workspaces", "s", "state.txt"), "utf8").catch(() => "")).includes(
        "1",
      ),
    WAIT_MS,
  );
  await end(first, "SIGKILL");
  await startWorker("two");
  expect((await weft.waitForRun(runId)).status).toBe("completed");
  const steps = await weft.steps(runId);
  expect(steps["work"]).toMatchObject({ attempt: 2, output: "prepared\n2\nmade\nstate.txt" });
  expect(steps["after"]?.output).toBe("prepared\n2");
  expect(steps["prepare"]?.attempt).toBe(1);
}, 120_000);

test("a worker releases its step at once on SIGTERM and exits with 0", async () => {
  const first = await startWorker("one");
  await weft.storeWorkflow(
    'name: handed\nsteps:\n  - {name: work, type: bash, command: "touch begun; test {{attempt}} -gt 1 || sleep 600; echo done"}\n',
  );
  const runId = await weft.startRun({ module: "handed", target: "h" });
  await waitUntil(
    "the step under way",
    async () =>
      (await readFile(join(folder, "one", "workspaces", "h", "begun"), "utf8").catch(() => undefined)) === "",
    WAIT_MS,
  );
  const second = await startWorker("two");
  expect(await end(first, "SIGTERM")).toBe(0);
  expect((await weft.waitForRun(runId)).status).toBe("completed");
  expect((await weft.steps(runId))["work"]).toMatchObject({ attempt: 2, output: "done" });
  expect(await end(second, "SIGTERM")).toBe(0);
}, 120_000);
