import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { FUNCTIONS_MODULE, processesWith, startTestRunner, until, waitingShells } from "./test-runner.ts";

const isLinux = process.platform === "linux";

interface Parent {
  readonly pid: number;
  readonly kill: () => void;
  readonly scriptsPid: number;
  readonly commandsPid: number;
  /** Ids of the two watchdogs. */
  readonly watchdogs: readonly number[];
}

/**
 * Starts a server in a separate process, with a command and a script that sleep; with `prestarted`, after a first
 * command, when shells wait.
 */
async function startParent(seconds: string, prestarted = false): Promise<Parent> {
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
     if (${prestarted}) {
       const { until, waitingShells } = await import(${JSON.stringify(new URL("./test-runner.ts", import.meta.url).href)});
       await runner.commands.run({ argv: ["bash", "-c", "true"], ...files, ...step, token: "first" });
       await until(async () => (await waitingShells(runner.commandsPid)).length === 2);
     }
     void runner.commands.run({ argv: ["bash", "-c", command], ...files, ...step });
     void runner.scripts.run({ code: "exec_cmd('sleep ${seconds}')", variables: {}, isolate: "r", ...step, token: "script" });
     setTimeout(() => console.log(JSON.stringify(runner)));`,
  );
  const parent = spawn(process.execPath, [join(folder, "parent.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = (): void => void parent.kill("SIGKILL");
  onTestFinished(kill);
  const line = await new Promise<string>((resolve) =>
    createInterface({ input: parent.stdout }).once("line", resolve),
  );
  // Three sleeps of the command, their bash, and the script's sleep.
  await until(async () => (await processesWith(seconds)).length >= 5);
  const pids = JSON.parse(line) as { scriptsPid: number; commandsPid: number };
  const watchdogs = [...(await watchdogsOf(pids.scriptsPid)), ...(await watchdogsOf(pids.commandsPid))];
  return { ...pids, watchdogs, pid: parent.pid ?? 0, kill };
}

async function watchdogsOf(pid: number): Promise<number[]> {
  const watchdogs = await processesWith("WEFT_STEP_TOKEN=${line");
  const parents = await Promise.all(watchdogs.map(parentOf));
  return watchdogs.filter((_, at) => parents[at] === pid);
}

/** Undefined if the process has ended. */
async function parentOf(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const parent = /^PPid:\s*(\d+)/m.exec(status)?.[1];
  return parent === undefined ? undefined : Number(parent);
}

test.each([false, ...(isLinux ? [true] : [])])(
  "killing the server ends every process of commands and scripts, and the watchdogs (pre-started shell: %s)",
  async (prestarted) => {
    const seconds = `7001.${process.pid}`;
    const { kill, scriptsPid, commandsPid, watchdogs } = await startParent(seconds, prestarted);
    const shells = await waitingShells(commandsPid);
    expect(shells).toHaveLength(prestarted ? 1 : 0);
    const all = [scriptsPid, commandsPid, ...watchdogs];
    expect(all).toHaveLength(4);
    const env = { PATH: process.env.PATH, WEFT_STEP_TOKEN: `step killed/${process.pid}0` };
    const bystander = spawn("sleep", ["600"], { env, stdio: "ignore" });
    onTestFinished(() => void bystander.kill("SIGKILL"));
    // The runner processes ignore signals that ask for termination.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      for (const pid of all) process.kill(pid, signal);
    kill();
    await until(async () => (await processesWith(seconds)).length === 0);
    await until(() => ![...all, ...shells].some(isAlive));
    expect(bystander.signalCode).toBeNull();
  },
);

test.each([false, ...(isLinux ? [true] : [])])(
  "killing the runner processes together with the server also ends their child processes (pre-started shell: %s)",
  async (prestarted) => {
    const seconds = `7004.${process.pid}`;
    const { kill, scriptsPid, commandsPid } = await startParent(seconds, prestarted);
    const shells = await waitingShells(commandsPid);
    for (const pid of [scriptsPid, commandsPid]) process.kill(pid, "SIGSTOP");
    kill();
    for (const pid of [scriptsPid, commandsPid]) process.kill(pid, "SIGKILL");
    await until(async () => (await processesWith(seconds)).length === 0);
    await until(() => !shells.some(isAlive));
  },
);

test("a watchdog that dies is replaced by one that knows the running processes", async () => {
  const seconds = `7005.${process.pid}`;
  const { kill, commandsPid } = await startParent(seconds);
  const [watchdog = 0] = await watchdogsOf(commandsPid);
  process.kill(watchdog, "SIGKILL");
  await until(async () => (await watchdogsOf(commandsPid)).some((pid) => pid !== watchdog));
  kill();
  process.kill(commandsPid, "SIGKILL");
  await until(async () => (await processesWith(seconds)).length === 0);
});

test.each<[string, string, boolean]>([
  ["its parent", "kill -9 $PPID", false],
  ["its parent's process group", "kill -9 -$PPID", false],
  ...(isLinux
    ? [["its parent from a pre-started shell", "kill -9 $PPID", true] as [string, string, boolean]]
    : []),
])(
  "a command that kills %s is rejected as to be tried again, and ends nothing else",
  async (_, attack, prestarted) => {
    const runner = await startTestRunner({ prestarted });
    onTestFinished(() => runner.close());
    const seconds = `7006.${process.pid}`;
    const { stdout } = await runner.bash("echo $PPID");
    const first = runner.commandsPid;
    expect([Number(stdout), first === process.pid]).toEqual([first, false]);
    const other = runner.bash(`setsid sleep ${seconds} & env -i sleep ${seconds} & sleep ${seconds}`, {
      token: "run/other/1",
    });
    const rejected = expect(other).rejects.toMatchObject({ code: "unavailable" });
    await until(async () => (await processesWith(seconds)).length >= 4);
    const attacker = (attempt: number) =>
      runner.bash(`${attack}; sleep ${seconds}`, { token: `run/attacker/${attempt}` });
    await expect(attacker(1)).rejects.toMatchObject({ code: "unavailable" });
    await rejected;
    // All its processes are gone, even one that hides its environment.
    await until(async () => (await processesWith(seconds)).length === 0);
    expect(await runner.bash("echo again")).toMatchObject({ exitCode: 0, stdout: "again\n" });
    expect(runner.commandsPid).not.toBe(first);
    const second = runner.commandsPid;
    expect(await runner.script("1 + 1")).toMatchObject({ value: 2 });
    // The retries run in separate processes: the culprit fails, and the other command succeeds.
    const third = runner.bash("sleep 0.5; echo $PPID", { token: "run/other/2" });
    await expect(attacker(2)).rejects.toMatchObject({ code: "command_ended_its_parent" });
    const outcome = await third;
    expect(outcome.exitCode).toBe(0);
    expect([0, first, second, process.pid]).not.toContain(Number(outcome.stdout));
    expect(runner.commandsPid).toBe(second);
    expect(Number((await runner.bash("echo $PPID", { token: "run/other/3" })).stdout)).toBe(second);
  },
);

test.each([false, ...(isLinux ? [true] : [])])(
  "a command that kills its own process group is its own failure (pre-started shell: %s)",
  async (prestarted) => {
    const runner = await startTestRunner({ prestarted });
    onTestFinished(() => runner.close());
    expect(await runner.bash("kill -9 0")).toMatchObject({ exitCode: null, signal: "SIGKILL" });
    expect(runner.warnings).toEqual([]);
  },
);

test("when the script runner dies, pending scripts are rejected as retryable, and the next script succeeds", async () => {
  const runner = await startTestRunner();
  onTestFinished(() => runner.close());
  const seconds = `7002.${process.pid}`;
  const lost = runner.script(`exec_cmd('sleep ${seconds}')`, { timeoutMs: 0 });
  const rejected = expect(lost).rejects.toMatchObject({ code: "unavailable" });
  await until(async () => (await processesWith(seconds)).length > 0);
  const first = runner.scriptsPid;
  process.kill(first, "SIGKILL");
  await rejected;
  expect(await runner.script("typeof sleep")).toMatchObject({ ok: true, value: "function" });
  expect(runner.scriptsPid).not.toBe(first);
  // The server ends its leftovers.
  await until(async () => (await processesWith(seconds)).length === 0);
});

test("closing ends running work and rejects new work", async () => {
  const runner = await startTestRunner();
  const seconds = `7003.${process.pid}`;
  const lost = expect(runner.bash(`sleep ${seconds}`, { timeoutMs: 0 })).rejects.toMatchObject({
    code: "unavailable",
  });
  await until(async () => (await processesWith(seconds)).length > 0);
  await runner.close();
  await lost;
  await until(async () => (await processesWith(seconds)).length === 0);
  for (const code of ["1", "typeof sleep"])
    await expect(runner.script(code)).rejects.toMatchObject({ code: "unavailable" });
});

test("self-contained scripts run in threads of this process, which end when they were idle", async () => {
  const runner = await startTestRunner({ idleMs: 1 });
  onTestFinished(() => runner.close());
  for (let n = 0; n < 5; n += 1) {
    const values = [n, n + 1].map(async (value) => runner.script(`${value} + 0`));
    expect(await Promise.all(values)).toMatchObject([{ value: n }, { value: n + 1 }]);
    // Before, at, and after the moment when a thread is told to end.
    await new Promise((resolve) => setTimeout(resolve, n % 3));
  }
  expect(runner.scriptsPid).toBe(0);
  expect(await runner.script("[2].map((n) => n * 2)")).toMatchObject({ value: [4] });
  // A plain expression calls nothing, whatever its properties and texts are called.
  expect(await runner.script("v.trim == 'len'", { variables: { v: { trim: "len" } } })).toMatchObject({
    value: true,
  });
  expect(runner.scriptsPid).toBe(0);
  expect(await runner.script("os_getenv('PATH')")).toMatchObject({ value: process.env.PATH });
  expect(runner.scriptsPid).toBeGreaterThan(0);
});

test.each(["scripts", "commands"] as const)(
  "%s have a process from the first one on, and none when they were idle; none is lost between",
  async (what) => {
    const runner = await startTestRunner({ idleMs: 1 });
    onTestFinished(() => runner.close());
    const pid = () => (what === "scripts" ? runner.scriptsPid : runner.commandsPid);
    const work = async (n: number): Promise<unknown> => {
      if (what === "commands") return (await runner.bash(`exit ${n}`)).exitCode;
      const outcome = await runner.script(`typeof sleep; ${n} + 0`);
      return outcome.ok && outcome.value;
    };
    expect(pid()).toBe(0);
    const seen = new Set<number>();
    for (let n = 0; n < 5; n += 1) {
      const answers = [work(n + 1), work(n + 2)];
      await new Promise(setImmediate);
      seen.add(pid());
      expect(await Promise.all(answers)).toEqual([n + 1, n + 2]);
      // Before, at, and after the moment when it is told to end.
      await new Promise((resolve) => setTimeout(resolve, n % 3));
    }
    await until(() => pid() === 0);
    await until(() => [...seen].every((one) => !isAlive(one)));
    expect(runner.warnings).toEqual([]);
  },
);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
