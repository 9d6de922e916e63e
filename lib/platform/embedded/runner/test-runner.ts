import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandOutcome, CommandRequest } from "../../commands.ts";
import type { Log } from "../../log.ts";
import type { ScriptOutcome, ScriptRequest } from "../../scripts.ts";
import { type Runner, type RunnerOptions, startRunner } from "./client.ts";

export const FUNCTIONS_MODULE = new URL("../../../workflows/script-library/library.ts", import.meta.url);
const { isSelfContained } = (await import(
  new URL("../../../workflows/evaluation/self-contained-scripts.ts", import.meta.url).href
)) as { isSelfContained: (code: string) => boolean };

export interface TestRunner extends Runner {
  readonly folder: string;
  /** Messages logged at level warn or error. */
  readonly warnings: { message: string; fields: unknown }[];
  bash(
    command: string,
    options?: Partial<CommandRequest>,
  ): Promise<CommandOutcome & { readonly stdout: string }>;
  script(code: string, options?: Partial<ScriptRequest>): Promise<ScriptOutcome>;
}

export interface TestRunnerOptions extends Pick<RunnerOptions, "idleMs" | "shellsMax"> {
  /** Each command waits until a shell waits for it, or until another command runs. */
  readonly prestarted?: boolean;
}

/** A runner with a temporary folder; `close` removes both. */
export async function startTestRunner({
  prestarted = false,
  ...options
}: TestRunnerOptions = {}): Promise<TestRunner> {
  const folder = await mkdtemp(join(tmpdir(), "weft-runner-"));
  const warnings: TestRunner["warnings"] = [];
  const note = (message: string, fields: unknown): void => void warnings.push({ message, fields });
  const log: Log = { debug: () => {}, info: () => {}, warn: note, error: note, with: () => log };
  const runner = await startRunner({
    log,
    functionsModule: FUNCTIONS_MODULE,
    isSelfContained,
    ...options,
  });
  let files = 0;
  let running = 0;
  const test: TestRunner = {
    folder,
    warnings,
    commands: runner.commands,
    scripts: runner.scripts,
    get scriptsPid() {
      return runner.scriptsPid;
    },
    get commandsPid() {
      return runner.commandsPid;
    },
    close: async () => {
      await runner.close();
      await rm(folder, { recursive: true, force: true });
    },
    bash: async (command, options) => {
      files += 1;
      const stdoutPath = join(folder, `out-${files}`);
      const stderrPath = join(folder, `err-${files}`);
      const argv = ["bash", "-c", command];
      if (prestarted) {
        if (running === 0 && test.commandsPid === 0) await runTrue();
        await until(async () => running > 0 || (await waitingShells(test.commandsPid)).length > 0);
      }
      const fixed = { argv, cwd: folder, env: {}, stdoutPath, stderrPath, timeoutMs: 20_000 };
      running += 1;
      try {
        const token = `${folder}/step-${files}`;
        const outcome = await runner.commands.run({ ...fixed, token, ...options });
        return { ...outcome, stdout: await readFile(options?.stdoutPath ?? stdoutPath, "utf8") };
      } finally {
        running -= 1;
      }
    },
    script: (code, options) =>
      runner.scripts.run({
        code,
        variables: {},
        cwd: folder,
        env: {},
        timeoutMs: 10_000,
        isolate: "run-1",
        token: `script-${process.pid}`,
        ...options,
      }),
  };
  const runTrue = () =>
    runner.commands.run({
      argv: ["bash", "-c", "true"],
      cwd: folder,
      env: {},
      stdoutPath: "/dev/null",
      stderrPath: "/dev/null",
      timeoutMs: 20_000,
      token: "true",
    });
  return test;
}

/** Ids of the shells that wait for a command of this process. */
export async function waitingShells(commandsPid: number): Promise<number[]> {
  const shells: number[] = [];
  const file = `/proc/${commandsPid}/task/${commandsPid}/children`;
  for (const pid of (await readFile(file, "utf8").catch(() => "")).split(" ")) {
    const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (line.startsWith("bash\0-c\0exit 98 ")) shells.push(Number(pid));
  }
  return shells;
}

/** Ids of processes, except zombies, whose command line contains the text. */
export async function processesWith(text: string): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue;
    const line = await readFile(`/proc/${entry}/cmdline`, "utf8").catch(() => "");
    if (line.includes(text)) found.push(Number(entry));
  }
  return found;
}

/** Polls every 20 ms until the condition holds. Throws after the time limit. */
export async function until(ask: () => boolean | Promise<boolean>, limitMs = 10_000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await ask())) {
    if (Date.now() > end) throw new Error(`not within ${limitMs} ms: ${ask.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
