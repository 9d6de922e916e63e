import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { FUNCTIONS_MODULE, processesWith, startTestRunner, until } from "./test-runner.ts";

test("when the server is killed its runner ends every process and itself", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weft-parent-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const seconds = `7001.${process.pid}`;
  await writeFile(
    join(folder, "parent.mjs"),
    `import { startRunner } from ${JSON.stringify(new URL("./client.ts", import.meta.url).href)};
     const log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
     const runner = await startRunner({ log, functionsModule: new URL(${JSON.stringify(FUNCTIONS_MODULE.href)}) });
     const command = "setsid sleep ${seconds} & sleep ${seconds} & sleep ${seconds}";
     const files = { stdoutPath: ${JSON.stringify(join(folder, "out"))}, stderrPath: ${JSON.stringify(join(folder, "err"))} };
     const step = { cwd: "/", env: {}, timeoutMs: 0, token: "step-killed-${process.pid}" };
     void runner.commands.run({ argv: ["bash", "-c", command], ...files, ...step });
     void runner.scripts.run({ code: "exec_cmd('sleep ${seconds}')", variables: {}, isolate: "r", ...step });
     console.log(runner.pid);`,
  );
  const parent = spawn(process.execPath, [join(folder, "parent.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [line] = await new Promise<string[]>((resolve) =>
    createInterface({ input: parent.stdout }).once("line", (text) => resolve([text])),
  );
  const runnerPid = Number(line);
  // Three sleeps of the command, the bash above them, and the script's.
  await until(async () => (await processesWith(seconds)).length >= 5);
  parent.kill("SIGKILL");
  await until(async () => (await processesWith(seconds)).length === 0, 3_000);
  await until(() => !isAlive(runnerPid), 3_000);
});

test("when the runner dies, what was under way is rejected as to be tried again, and the next request is served", async () => {
  const runner = await startTestRunner();
  onTestFinished(() => runner.close());
  const seconds = `7002.${process.pid}`;
  const first = runner.pid;
  const lost = runner.bash(`sleep ${seconds}`, { timeoutMs: 0 });
  const rejected = expect(lost).rejects.toMatchObject({ code: "unavailable" });
  await until(async () => (await processesWith(seconds)).length > 0);
  process.kill(first, "SIGKILL");
  await rejected;
  expect(await runner.bash("echo again")).toMatchObject({ exitCode: 0, stdout: "again\n" });
  expect(runner.pid).not.toBe(first);
  // The successor ends what its predecessor left.
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
  await until(async () => (await processesWith(seconds)).length === 0, 3_000);
  await expect(runner.script("1")).rejects.toMatchObject({ code: "unavailable" });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
