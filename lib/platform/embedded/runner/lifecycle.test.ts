import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { FUNCTIONS_MODULE, processesWith, startTestRunner, until } from "./test-runner.ts";

interface Parent {
  readonly pid: number;
  readonly kill: () => void;
  readonly scriptsPid: number;
  readonly watchdogPid: number;
}

/** A server in a process of its own, which runs a command and a script that sleep. */
async function startParent(seconds: string): Promise<Parent> {
  const folder = await mkdtemp(join(tmpdir(), "weft-parent-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(
    join(folder, "parent.mjs"),
    `import { startRunner } from ${JSON.stringify(new URL("./client.ts", import.meta.url).href)};
     const log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
     const runner = await startRunner({ log, functionsModule: new URL(${JSON.stringify(FUNCTIONS_MODULE.href)}) });
     const command = "setsid sleep ${seconds} & env -i sleep ${seconds} & sleep ${seconds}";
     const files = { stdoutPath: ${JSON.stringify(join(folder, "out"))}, stderrPath: ${JSON.stringify(join(folder, "err"))} };
     const step = { cwd: "/", env: {}, timeoutMs: 0, token: "step killed/${process.pid}" };
     void runner.commands.run({ argv: ["bash", "-c", command], ...files, ...step });
     void runner.scripts.run({ code: "exec_cmd('sleep ${seconds}')", variables: {}, isolate: "r", ...step, token: "script" });
     setImmediate(() => console.log(JSON.stringify(runner)));`,
  );
  const parent = spawn(process.execPath, [join(folder, "parent.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = (): void => void parent.kill("SIGKILL");
  onTestFinished(kill);
  const line = await new Promise<string>((resolve) =>
    createInterface({ input: parent.stdout }).once("line", resolve),
  );
  // Three sleeps of the command, the bash above them, and the script's.
  await until(async () => (await processesWith(seconds)).length >= 5);
  return { ...JSON.parse(line), pid: parent.pid, kill };
}

/** Undefined where the process is gone. */
async function parentOf(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const parent = /^PPid:\s*(\d+)/m.exec(status)?.[1];
  return parent === undefined ? undefined : Number(parent);
}

test("when the server is killed every process of commands and scripts ends, and what watched them", async () => {
  const seconds = `7001.${process.pid}`;
  const { kill, scriptsPid, watchdogPid } = await startParent(seconds);
  const env = { PATH: process.env.PATH, WEFT_STEP_TOKEN: `step killed/${process.pid}0` };
  const bystander = spawn("sleep", ["600"], { env, stdio: "ignore" });
  onTestFinished(() => void bystander.kill("SIGKILL"));
  // What ends a server politely is not for its watchdog.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.kill(watchdogPid, signal);
  kill();
  await until(async () => (await processesWith(seconds)).length === 0);
  await until(() => !isAlive(scriptsPid) && !isAlive(watchdogPid));
  expect(bystander.signalCode).toBeNull();
});

test("when the process of scripts is killed with the server, what its scripts started ends as well", async () => {
  const seconds = `7004.${process.pid}`;
  const { kill, scriptsPid } = await startParent(seconds);
  process.kill(scriptsPid, "SIGSTOP");
  kill();
  process.kill(scriptsPid, "SIGKILL");
  await until(async () => (await processesWith(seconds)).length === 0);
});

test("a watchdog that dies is followed by another, which knows what runs", async () => {
  const seconds = `7005.${process.pid}`;
  const { pid, kill, watchdogPid } = await startParent(seconds);
  process.kill(watchdogPid, "SIGKILL");
  await until(async () => {
    const watchdogs = await processesWith("WEFT_STEP_TOKEN=${line");
    const parents = await Promise.all(watchdogs.map(parentOf));
    return watchdogs.some((watchdog, at) => watchdog !== watchdogPid && parents[at] === pid);
  });
  kill();
  await until(async () => (await processesWith(seconds)).length === 0);
});

test("when the process of scripts dies, what was under way is rejected as to be tried again, and the next script is served", async () => {
  const runner = await startTestRunner();
  onTestFinished(() => runner.close());
  const seconds = `7002.${process.pid}`;
  const lost = runner.script(`exec_cmd('sleep ${seconds}')`, { timeoutMs: 0 });
  const rejected = expect(lost).rejects.toMatchObject({ code: "unavailable" });
  await until(async () => (await processesWith(seconds)).length > 0);
  const first = runner.scriptsPid;
  process.kill(first, "SIGKILL");
  await rejected;
  expect(await runner.script("1 + 1")).toMatchObject({ ok: true, value: 2 });
  expect(runner.scriptsPid).not.toBe(first);
  // The server ends what it left.
  await until(async () => (await processesWith(seconds)).length === 0);
});

test("closing ends what runs and refuses what comes", async () => {
  const runner = await startTestRunner();
  const seconds = `7003.${process.pid}`;
  const lost = expect(runner.bash(`sleep ${seconds}`, { timeoutMs: 0 })).rejects.toMatchObject({
    code: "unavailable",
  });
  await until(async () => (await processesWith(seconds)).length > 0);
  await runner.close();
  await lost;
  await until(async () => (await processesWith(seconds)).length === 0);
  await expect(runner.script("1")).rejects.toMatchObject({ code: "unavailable" });
});

test("scripts have a process from the first one on, and none when they were idle; none is lost between", async () => {
  const runner = await startTestRunner({ scriptsIdleMs: 1 });
  onTestFinished(() => runner.close());
  expect(runner.scriptsPid).toBe(0);
  const seen = new Set<number>();
  for (let n = 0; n < 5; n += 1) {
    const answers = [runner.script(`${n} + 1`), runner.script(`${n} + 2`)];
    await new Promise(setImmediate);
    seen.add(runner.scriptsPid);
    expect(await Promise.all(answers)).toMatchObject([{ value: n + 1 }, { value: n + 2 }]);
    // Before, at, and after the moment in which it is told to end.
    await new Promise((resolve) => setTimeout(resolve, n % 3));
  }
  await until(() => runner.scriptsPid === 0);
  await until(() => [...seen].every((pid) => !isAlive(pid)));
  expect(runner.warnings).toEqual([]);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
