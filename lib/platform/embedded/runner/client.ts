import type { CommandOutcome, CommandRequest, Commands } from "../../commands.ts";
import type { Log } from "../../log.ts";
import { type ScriptMessage, type ScriptReply, toMessage, toOutcome } from "../../scripts/script-messages.ts";
import type { Scripts } from "../../scripts.ts";
import { CommandProcesses } from "./command-processes.ts";
import { concealEnvironment } from "./conceal.ts";
import { RunnerLink } from "./link.ts";
import { BASE_ENV_NAMES } from "./protocol.ts";

/** A runner process takes some 50 MB; it is back within 0.1 s. */
const IDLE_MS = 3 * 60_000;

export interface RunnerOptions {
  readonly log: Log;
  /** A module that exports `callables`: the functions that scripts may call, by name. */
  readonly functionsModule: URL;
  /** What children get where a request gives none of that name; the usual variables of this process by default. */
  readonly baseEnv?: Readonly<Record<string, string>>;
  /** A runner process that was idle for so long is ended until it is needed again, milliseconds; 3 minutes by default. */
  readonly idleMs?: number;
}

export interface Runner {
  readonly commands: Commands;
  readonly scripts: Scripts;
  /** Of the process of scripts: 0 before the first script, while it is down, and after it was idle. */
  readonly scriptsPid: number;
  /** The same for the process that runs commands. */
  readonly commandsPid: number;
  /** Ends every command and script and what they have started. */
  close(): Promise<void>;
}

/**
 * What runs commands and scripts, each in a process of their own: what they do to their parent is not done to this
 * process. A `timeoutMs` of 0 means no limit. Both reject with PlatformFault `unavailable` (try again) when their
 * process dies under them or this is closed. The environment that this process was started with is wiped from where
 * other processes could read it.
 */
export async function startRunner(options: RunnerOptions): Promise<Runner> {
  const { log, idleMs = IDLE_MS } = options;
  try {
    concealEnvironment();
  } catch (error) {
    log.warn("steps may read the variables that the server was started with", { error: String(error) });
  }
  const shared = { env: options.baseEnv ?? inheritedEnv(), log, idleMs };
  const program = new URL("./commands.ts", import.meta.url);
  const commands = new CommandProcesses(
    () =>
      new RunnerLink<Omit<CommandRequest, "signal">, CommandOutcome>({
        ...shared,
        what: "commands",
        program,
        args: [],
      }),
  );
  const scripts = new RunnerLink<ScriptMessage, ScriptReply>({
    ...shared,
    what: "scripts",
    args: [options.functionsModule.href],
    program: new URL("./main.ts", import.meta.url),
  });
  return {
    commands: { run: (request) => commands.run(request) },
    scripts: {
      run: async (request) =>
        toOutcome(await scripts.request(toMessage(request), request.signal, request.ask)),
    },
    get scriptsPid() {
      return scripts.pid;
    },
    get commandsPid() {
      return commands.pid;
    },
    close: async () => {
      await Promise.all([scripts.close(), commands.close()]);
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
