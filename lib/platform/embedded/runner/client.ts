import type { Commands } from "../../commands.ts";
import type { Log } from "../../log.ts";
import { toMessage, toOutcome } from "../../scripts/script-messages.ts";
import type { ScriptOutcome, ScriptRequest, Scripts } from "../../scripts.ts";
import { concealEnvironment } from "./conceal.ts";
import { FileCommands } from "./file-commands.ts";
import { Leftovers } from "./leftovers.ts";
import { RunnerLink } from "./link.ts";
import { BASE_ENV_NAMES } from "./protocol.ts";
import { Watchdog } from "./watchdog.ts";

/** The process of scripts takes some 60 MB; it is back within 0.1 s. */
const SCRIPTS_IDLE_MS = 3 * 60_000;

export interface RunnerOptions {
  readonly log: Log;
  /** A module that exports `callables`: the functions that scripts may call, by name. */
  readonly functionsModule: URL;
  /** What children get where a request gives none of that name; the usual variables of this process by default. */
  readonly baseEnv?: Readonly<Record<string, string>>;
  /** After so long without a script their process is ended until the next one, milliseconds; 3 minutes by default. */
  readonly scriptsIdleMs?: number;
}

export interface Runner {
  readonly commands: Commands;
  readonly scripts: Scripts;
  /** Of the process of scripts: 0 before the first script, while it is down, and after it was idle. */
  readonly scriptsPid: number;
  /** Of the shell that ends the commands should this process be killed; 0 while it is down. */
  readonly watchdogPid: number;
  /** Ends every command and script and what they have started. */
  close(): Promise<void>;
}

/**
 * What runs commands, as children of this process, and scripts, in a process of their own. A `timeoutMs` of 0 means
 * no limit. Scripts reject with PlatformFault `unavailable` (try again) when their process dies under them,
 * commands when this is closed under them. The environment that this process was started with is wiped from
 * where children could read it. Throws where temporary files cannot be made.
 */
export async function startRunner(options: RunnerOptions): Promise<Runner> {
  const { log } = options;
  try {
    concealEnvironment();
  } catch (error) {
    log.warn("steps may read the variables that the server was started with", { error: String(error) });
  }
  const env = options.baseEnv ?? inheritedEnv();
  const watchdog = new Watchdog(env, log);
  const leftovers = new Leftovers(
    (count) => log.warn("ended processes that a step left behind", { count }),
    watchdog,
  );
  const commands = new FileCommands(env, leftovers, watchdog, log);
  const link = new RunnerLink({
    args: [options.functionsModule.href],
    env,
    log,
    idleMs: options.scriptsIdleMs ?? SCRIPTS_IDLE_MS,
    onLost: (tokens) => void leftovers.end(tokens),
  });
  return {
    commands: { run: (request) => commands.run(request) },
    scripts: { run: (request) => runScript(link, watchdog, request) },
    get scriptsPid() {
      return link.pid;
    },
    get watchdogPid() {
      return watchdog.pid;
    },
    close: async () => {
      await Promise.all([link.close(), commands.close()]);
      watchdog.close();
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

async function runScript(
  link: RunnerLink,
  watchdog: Watchdog,
  request: ScriptRequest,
): Promise<ScriptOutcome> {
  // Its process ends with this one and ends what it runs; should both be killed, the watchdog does.
  const note = watchdog.noteToken(request.token);
  try {
    return toOutcome(await link.request(toMessage(request), request.signal, request.ask));
  } finally {
    watchdog.strike(note);
  }
}
