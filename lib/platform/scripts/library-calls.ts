import type { NetworkPolicy } from "../../settings/config.ts";
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
  readonly folders?: readonly string[];
  readonly network?: NetworkPolicy;
  /** As a process of this step sees it, but for its token. */
  readonly env: Readonly<Record<string, string>>;
  readonly token: string;
  /** Throws when an evaluation asks for more than it may. */
  emitEvent(event: ScriptEvent): void;
  log(level: LogLevel, message: string): void;
  /** Notes that the steps after this one are not wanted; the first message counts. */
  skip(message: string): void;
  /** Runs `bash -c command` with further variables and waits for its end. */
  exec(command: string, env?: Readonly<Record<string, string>>): ExecResult;
  /** Waits, but not longer than the script may run. */
  sleep(milliseconds: number): void;
  /** Waits for one of the module's `tasks`. Throws what it fails with. */
  await(task: string, input: unknown): unknown;
  /** Waits for an answer of whoever runs the script. Throws what that fails with. */
  ask(what: string, input: unknown): unknown;
}

/** A function that scripts may call; values go in and out as JSON. */
export interface Callable {
  /** Loads what `run` needs; awaited before an evaluation whose code names the function. */
  readonly prepare?: () => Promise<void>;
  /** Gives a JSON value, or what `isParts` knows: then the VM evaluates the codes, and `finish` gives it. */
  run(args: readonly unknown[], context: CallContext): unknown;
}

interface Parts {
  readonly codes: readonly string[];
  finish(results: readonly Part[]): unknown;
}

type Part = { readonly value: unknown } | { readonly error: string };

/** What an evaluation asked for and said, within bounds. */
export class Trace {
  readonly events: ScriptEvent[] = [];
  readonly logs: ScriptLogLine[] = [];
  skipped: string | undefined;
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

const IDENTIFIER = /[A-Za-z_$][\w$]*/g;

/** Loads the module's `callables`. Throws when it has none. */
export async function loadCallables(address: string): Promise<ReadonlyMap<string, Callable>> {
  const module: { readonly callables?: unknown } = await import(address);
  if (!(module.callables instanceof Map)) throw new Error("the functions module exports no map `callables`");
  return module.callables;
}

/** Calls of the VM to the functions. */
export class Calls {
  /** Functions that wait for the VM to evaluate parts of theirs, the last one innermost. */
  readonly #waiting: Parts[] = [];
  readonly #callables: ReadonlyMap<string, Callable>;

  constructor(callables: ReadonlyMap<string, Callable>) {
    this.#callables = callables;
  }

  /** The functions that a code names, by the spellings that it uses. */
  namesIn(code: string): string[] {
    const names = new Set<string>();
    for (const [name] of code.matchAll(IDENTIFIER)) if (this.#callables.has(name)) names.add(name);
    return [...names];
  }

  /**
   * Calls a function for the VM: never throws, and answers as guest-source.ts says. Without a name it is the
   * function that waits for what the VM has evaluated.
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

  /** What a script left unfinished that was stopped. */
  forget(): void {
    this.#waiting.length = 0;
  }

  #run(name: string, args: readonly unknown[], context: CallContext): unknown {
    const callable = this.#callables.get(name);
    if (callable === undefined) throw new Error("there is no such function");
    return callable.run(args, context);
  }

  #finish(texts: readonly unknown[]): unknown {
    const parts = this.#waiting.pop();
    if (parts === undefined) throw new Error("there is no such function");
    return parts.finish(texts.map((text) => toPart(String(text))));
  }
}

function isParts(value: unknown): value is Parts {
  return typeof value === "object" && value !== null && "codes" in value && "finish" in value;
}

/** Texts of the VM: `v` and JSON, else why there is no value. */
function toPart(text: string): Part {
  if (text.startsWith("v")) return { value: JSON.parse(text.slice(1)) };
  return { error: text.startsWith("e") ? text.slice(1) : "a promise is not waited for" };
}
