import type { ScriptEvent } from "../scripts.ts";
import type { ExecResult } from "./script-job.ts";
import type { LogLevel, ScriptLogLine } from "./script-messages.ts";

/** Beyond this, further events of one evaluation are refused. In UTF-16 units of their JSON. */
const EVENTS_LIMIT_CHARS = 32 * 1024 * 1024;
/** Beyond this, further log lines of one evaluation are dropped. In UTF-16 units. */
const LOGS_LIMIT_CHARS = 256 * 1024;

/** What functions get besides their arguments. */
export interface CallContext {
  readonly cwd: string;
  /** As a process of this step sees it, but for its token. */
  readonly env: Readonly<Record<string, string>>;
  readonly token: string;
  /** Throws when an evaluation asks for more than it may. */
  emitEvent(event: ScriptEvent): void;
  log(level: LogLevel, message: string): void;
  /** Runs `bash -c command` with further variables and waits for its end. */
  exec(command: string, env?: Readonly<Record<string, string>>): ExecResult;
  /** Waits, but not longer than the script may run. */
  sleep(milliseconds: number): void;
}

/** A function that scripts may call; values go in and out as JSON. */
export interface Callable {
  /** Loads what `run` needs; awaited before an evaluation whose code names the function. */
  readonly prepare?: () => Promise<void>;
  run(args: readonly unknown[], context: CallContext): unknown;
}

/** What an evaluation asked for and said, within bounds. */
export class Trace {
  readonly events: ScriptEvent[] = [];
  readonly logs: ScriptLogLine[] = [];
  #eventChars = 0;
  #logChars = 0;

  emitEvent(event: ScriptEvent): void {
    this.#eventChars += JSON.stringify(event).length;
    if (this.#eventChars > EVENTS_LIMIT_CHARS) throw new Error("too many events in one script");
    this.events.push(event);
  }

  log(level: LogLevel, message: string): void {
    if (this.#logChars > LOGS_LIMIT_CHARS) return;
    const room = LOGS_LIMIT_CHARS - this.#logChars;
    this.#logChars += message.length + 1;
    if (message.length <= room) this.logs.push({ level, message });
    else
      this.logs.push({
        level: "warn",
        message: `${message.slice(0, room)}… (further log lines are dropped)`,
      });
  }
}

/** Loads the module's `callables`. Throws when it has none. */
export async function loadCallables(address: string): Promise<ReadonlyMap<string, Callable>> {
  const module: { readonly callables?: unknown } = await import(address);
  if (!(module.callables instanceof Map)) throw new Error("the functions module exports no map `callables`");
  return module.callables;
}

/** Calls a function for the VM: never throws, and answers as guest-source.ts says. */
export function answerCall(callable: Callable | undefined, args: string, context: CallContext): string {
  try {
    if (callable === undefined) return "ethere is no such function";
    const parsed: unknown = JSON.parse(args);
    const value = callable.run(Array.isArray(parsed) ? parsed : [], context);
    const json = JSON.stringify(value);
    return json === undefined ? "u" : `v${json}`;
  } catch (error) {
    return `e${error instanceof Error ? error.message : String(error)}`;
  }
}
