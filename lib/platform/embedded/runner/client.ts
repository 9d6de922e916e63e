import { closeSync, openSync, writeSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import type { CommandOutcome, CommandRequest, Commands } from "../../commands.ts";
import type { Log } from "../../log.ts";
import { type ScriptMessage, type ScriptReply, toMessage, toOutcome } from "../../scripts/script-messages.ts";
import type { Scripts } from "../../scripts.ts";
import { CommandProcesses } from "./command-processes.ts";
import { RunnerLink } from "./link.ts";
import { type IsSelfContained, OwnThreads } from "./own-threads.ts";
import { readRegions } from "./process-regions.ts";
import { BASE_ENV_NAMES } from "./protocol.ts";

/**
 * Erases this process's initial environment, which may contain keys, from where its children could read it
 * (`/proc/PID/environ`). `process.env` does not change. Throws if the system does not permit it.
 */
export function concealEnvironment(): void {
  if (process.platform !== "linux" || !isMainThread) return;
  // Setting a variable copies it; the original text is no longer used.
  for (const [name, value] of Object.entries(process.env)) process.env[name] = value;
  const { start, length } = readRegions("self").env;
  if (!(start > 0 && length > 0)) return;
  const memory = openSync("/proc/self/mem", "r+");
  try {
    writeSync(memory, Buffer.alloc(length), 0, length, start);
  } finally {
    closeSync(memory);
  }
}

/** A runner process uses some 50 MB, and restarts within 0.1 s. */
const IDLE_MS = 3 * 60_000;
/** A command uses one while the next one starts. Each uses about 0.7 MB. */
const SHELLS_MAX = 2;

export interface RunnerOptions {
  readonly log: Log;
  /** A module that exports `callables`: the functions that scripts may call, by name. */
  readonly functionsModule: URL;
  /** Scripts that are evaluated in threads of this process; none by default. */
  readonly isSelfContained?: IsSelfContained;
  /**
   * Variables that child processes get if a request does not set them; default: the usual variables of this process.
   */
  readonly baseEnv?: Readonly<Record<string, string>>;
  /** Idle time in milliseconds after which a runner process ends until it is needed again; default 3 minutes. */
  readonly idleMs?: number;
  /** Maximum number of shells that wait for a command; default 2. */
  readonly shellsMax?: number;
}

export interface Runner {
  readonly commands: Commands;
  readonly scripts: Scripts;
  /** Process id of the script runner; 0 before the first script, while it is down, and after it ended idle. */
  readonly scriptsPid: number;
  /** Process id of the command runner, with the same rules. */
  readonly commandsPid: number;
  /** Ends all commands and scripts and their child processes. */
  close(): Promise<void>;
}

/**
 * Runs commands and scripts in two separate processes, so that code that attacks its parent process does not reach this
 * one; self-contained scripts, which start nothing, run in threads. A `timeoutMs` of 0 means no limit. Both reject with
 * PlatformFault `unavailable` (retryable) if their process dies or this runner is closed. Erases this process's initial
 * environment from where other processes could read it.
 */
export async function startRunner(options: RunnerOptions): Promise<Runner> {
  const { log, idleMs = IDLE_MS } = options;
  try {
    concealEnvironment();
  } catch (error) {
    log.warn("the environment of the server cannot be hidden from steps", { error: String(error) });
  }
  const shared = { env: options.baseEnv ?? inheritedEnv(), log, idleMs };
  const program = new URL("./commands.ts", import.meta.url);
  const commands = new CommandProcesses(
    () =>
      new RunnerLink<Omit<CommandRequest, "signal">, CommandOutcome>({
        ...shared,
        what: "commands",
        program,
        args: [`${options.shellsMax ?? SHELLS_MAX}`],
      }),
  );
  const scripts = new RunnerLink<ScriptMessage, ScriptReply>({
    ...shared,
    what: "scripts",
    args: [options.functionsModule.href],
    program: new URL("./main.ts", import.meta.url),
  });
  const { isSelfContained } = options;
  const threads = isSelfContained === undefined ? undefined : new OwnThreads(isSelfContained, { idleMs });
  return {
    commands: { run: (request) => commands.run(request) },
    scripts: {
      run: async (request) => {
        const evaluated = await threads?.run(request);
        if (evaluated !== undefined) return evaluated;
        await request.beforeEffects?.();
        return toOutcome(await scripts.request(toMessage(request), request.signal, request.callHost));
      },
    },
    get scriptsPid() {
      return scripts.pid;
    },
    get commandsPid() {
      return commands.pid;
    },
    close: async () => {
      await Promise.all([scripts.close(), commands.close(), threads?.close()]);
    },
  };
}

function inheritedEnv(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of BASE_ENV_NAMES) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
