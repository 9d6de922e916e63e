import type { NetworkPolicy } from "../../settings/config.ts";
import type { ScriptEvent } from "../scripts.ts";
import type { ExecResult } from "./script-job.ts";
import type { LogLevel, ScriptLogLine } from "./script-messages.ts";

/** Further events of one evaluation are rejected; in UTF-16 units of their JSON. */
const EVENTS_LIMIT_CHARS = 32 * 1024 * 1024;
/** Further log lines of one evaluation are dropped; in UTF-16 units. */
const LOGS_LIMIT_CHARS = 256 * 1024;

/** The context of a function call. */
export interface CallContext {
  readonly cwd: string;
  readonly folders?: readonly string[];
  readonly network?: NetworkPolicy;
  /** The environment of the step's processes, without the token. */
  readonly env: Readonly<Record<string, string>>;
  readonly token: string;
  /** Throws if an evaluation exceeds its limit of events. */
  emitEvent(event: ScriptEvent): void;
  log(level: LogLevel, message: string): void;
  /** Requests that the remaining steps be skipped; the first message is kept. */
  skip(message: string): void;
  /** Runs `bash -c command` with additional variables and waits for its end. */
  exec(command: string, env?: Readonly<Record<string, string>>): ExecResult;
  /** Sleeps, at most until the script's deadline. */
  sleep(milliseconds: number): void;
  /** Waits for one of the module's `tasks`. Throws its error. */
  await(task: string, input: unknown): unknown;
  /** Waits for the result of a host call. Throws its error. */
  ask(what: string, input: unknown): unknown;
}

/** A function that scripts may call; arguments and result are JSON values. */
export interface Callable {
  /** Loads the dependencies of `run`; awaited before an evaluation whose code names the function. */
  readonly prepare?: () => Promise<void>;
  /** Returns a JSON value, or `Parts`: then the VM evaluates their codes, and `finish` returns the value. */
  run(args: readonly unknown[], context: CallContext): unknown;
}

interface Parts {
  readonly codes: readonly string[];
  finish(results: readonly Part[]): unknown;
}

type Part = { readonly value: unknown } | { readonly error: string };

/** The events, log lines and skip message of an evaluation, within limits. */
export class Trace {
  readonly events: ScriptEvent[] = [];
  readonly logs: ScriptLogLine[] = [];
  skipped: string | undefined;
  #eventChars = 0;
  #logChars = 0;

  emitEvent(event: ScriptEvent): void {
    this.#eventChars += JSON.stringify(event).length;
    if (this.#eventChars > EVENTS_LIMIT_CHARS) throw new Error("the script emits too many events");
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
        message: `${message.slice(0, room)}… (further log lines are omitted)`,
      });
  }
}

const IDENTIFIER = /[A-Za-z_$][\w$]*/g;

/** Loads the module's `callables`. Throws if it has none. */
export async function loadCallables(address: string): Promise<ReadonlyMap<string, Callable>> {
  const module: { readonly callables?: unknown } = await import(address);
  if (!(module.callables instanceof Map))
    throw new Error("the functions module does not export the map `callables`");
  return module.callables;
}

/** Dispatches the VM's calls to the functions. */
export class Calls {
  /** Functions that wait for the VM to evaluate their parts; the last one is the innermost. */
  readonly #waiting: Parts[] = [];
  readonly #callables: ReadonlyMap<string, Callable>;

  constructor(callables: ReadonlyMap<string, Callable>) {
    this.#callables = callables;
  }

  /** The functions that code names, by the spellings that it uses. */
  namesIn(code: string): string[] {
    const names = new Set<string>();
    for (const [name] of code.matchAll(IDENTIFIER)) if (this.#callables.has(name)) names.add(name);
    return [...names];
  }

  /**
   * Calls a function for the VM. Never throws; guest-source.ts documents the result. Without a name, it continues the
   * function that waits for evaluated parts.
   */
  answer(name: string, args: string, context: CallContext): string {
    try {
      const parsed: unknown = JSON.parse(args);
      const given = Array.isArray(parsed) ? parsed : [];
      const value = name === "" ? this.#finish(given) : this.#run(name, given, context);
      if (isParts(value)) {
        this.#waiting.push(value);
        const names = JSON.stringify(this.namesIn(value.codes.join("\n")));
        return `x${JSON.stringify({ codes: value.codes, names })}`;
      }
      const json = JSON.stringify(value);
      return json === undefined ? "u" : `v${json}`;
    } catch (error) {
      return `e${error instanceof Error ? error.message : String(error)}`;
    }
  }

  /** Drops the unfinished calls of a stopped script. */
  forget(): void {
    this.#waiting.length = 0;
  }

  #run(name: string, args: readonly unknown[], context: CallContext): unknown {
    const callable = this.#callables.get(name);
    if (callable === undefined) throw new Error("the function does not exist");
    return callable.run(args, context);
  }

  #finish(texts: readonly unknown[]): unknown {
    const parts = this.#waiting.pop();
    if (parts === undefined) throw new Error("the function does not exist");
    return parts.finish(texts.map((text) => toPart(String(text))));
  }
}

function isParts(value: unknown): value is Parts {
  return typeof value === "object" && value !== null && "codes" in value && "finish" in value;
}

/** Parses a result of the VM: `v` and JSON, otherwise the reason why there is no value. */
function toPart(text: string): Part {
  if (text.startsWith("v")) return { value: JSON.parse(text.slice(1)) };
  return { error: text.startsWith("e") ? text.slice(1) : "a promise was not awaited" };
}
