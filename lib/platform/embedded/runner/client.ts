import type { CommandOutcome, CommandRequest, Commands } from "../../commands.ts";
import { PlatformFault } from "../../faults.ts";
import type { Log } from "../../log.ts";
import { toMessage, toOutcome } from "../../scripts/script-messages.ts";
import type { ScriptOutcome, ScriptRequest, Scripts } from "../../scripts.ts";
import { RunnerLink } from "./link.ts";
import { BASE_ENV_NAMES } from "./protocol.ts";

export interface RunnerOptions {
  readonly log: Log;
  /** A module that exports `callables`: the functions that scripts may call, by name. */
  readonly functionsModule: URL;
  /** What children get where a request gives none of that name; the usual variables of this process by default. */
  readonly baseEnv?: Readonly<Record<string, string>>;
}

export interface Runner {
  readonly commands: Commands;
  readonly scripts: Scripts;
  /** Of the runner process; changes when it had to be started again, 0 while it is down. */
  readonly pid: number;
  /** Ends the runner and every process and script that it runs. */
  close(): Promise<void>;
}

/**
 * Starts the process that runs commands and scripts. Call it early: forking is dear once this process is big.
 * A `timeoutMs` of 0 means no limit. Requests reject with PlatformFault `unavailable` (try again) when the
 * runner dies under them. Throws the same when it cannot be started.
 */
export async function startRunner(options: RunnerOptions): Promise<Runner> {
  const env = options.baseEnv ?? inheritedEnv();
  const link = await RunnerLink.open([options.functionsModule.href], env, options.log);
  return {
    commands: { run: (request) => runCommand(link, request) },
    scripts: { run: (request) => runScript(link, request) },
    get pid() {
      return link.pid;
    },
    close: () => link.close(),
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

async function runCommand(link: RunnerLink, request: CommandRequest): Promise<CommandOutcome> {
  const { signal, ...message } = request;
  const answer = await link.request({ kind: "command", request: message }, signal);
  if (answer.kind !== "command-ended")
    throw new PlatformFault("unavailable", "the runner answered out of turn");
  return answer.outcome;
}

async function runScript(link: RunnerLink, request: ScriptRequest): Promise<ScriptOutcome> {
  const answer = await link.request({ kind: "script", request: toMessage(request) }, request.signal);
  if (answer.kind !== "script-ended")
    throw new PlatformFault("unavailable", "the runner answered out of turn");
  return toOutcome(answer.reply);
}
