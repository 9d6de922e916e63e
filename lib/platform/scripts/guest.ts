import { JSException, type JSValueHandle, QuickJS } from "quickjs-wasi";
import { EVALUATOR_SOURCE, SETUP_SOURCE } from "./guest-source.ts";
import { MEMORY_LIMIT_BYTES, type StopResult, stopResult } from "./stop-result.ts";
import { type WasmMemory, wasmApi } from "./web-assembly.ts";

/** Stack limit of the engine; its binary has a stack of 1 MiB. */
const STACK_LIMIT_BYTES = 200_000;
/** The memory of a VM never shrinks: a VM that exceeds this is not kept. */
const KEPT_MEMORY_BYTES = 8 * 1024 * 1024;
/** Maximum length of a result in UTF-16 units: longer ones would be in memory several times. */
export const RESULT_LIMIT_CHARS = 16 * 1024 * 1024;
/** The same limit as for request bodies. */
const RESULT_DEPTH_MAX = 100;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

export interface GuestOptions {
  readonly wasm: WebAssembly.Module;
  /** The callable functions that this code names. */
  readonly namesIn: (code: string) => readonly string[];
  /**
   * Takes a name and arguments as JSON; guest-source.ts documents the result. Must not throw: a stack would reveal
   * paths.
   */
  readonly call: (name: string, args: string) => string;
  /** Called periodically while code runs; returns the reason to stop, if any. */
  readonly stop: () => "timeout" | "cpu" | "aborted" | undefined;
}

/** One QuickJS VM with separate memory. */
export class Guest {
  readonly #vm: QuickJS;
  readonly #memory: WasmMemory;
  readonly #namesIn: GuestOptions["namesIn"];
  /** Names of the functions that are defined. */
  readonly #names = new Set<string>();
  readonly #extend: JSValueHandle;
  readonly #evaluate: JSValueHandle;
  readonly #outcome: JSValueHandle;
  readonly #restore: JSValueHandle;
  readonly #stop: GuestOptions["stop"];
  #broken = false;

  private constructor(vm: QuickJS, memory: WasmMemory, options: GuestOptions) {
    this.#vm = vm;
    this.#memory = memory;
    this.#stop = options.stop;
    using setUp = vm.evalCode(SETUP_SOURCE, "<setup>");
    using evaluator = vm.evalCode(EVALUATOR_SOURCE, "<script>");
    using call = vm.newFunction("call", (name, args) =>
      vm.newString(callAndCheck(options, name?.toString() ?? "", args?.toString() ?? "[]")),
    );
    using hooks = vm.callFunction(setUp, vm.undefined, evaluator, call);
    this.#namesIn = options.namesIn;
    this.#extend = hooks.getProp("extend");
    this.#evaluate = hooks.getProp("evaluate");
    this.#outcome = hooks.getProp("outcome");
    this.#restore = hooks.getProp("restore");
  }

  static async create(options: GuestOptions): Promise<Guest> {
    const memories: WasmMemory[] = [];
    const vm = await QuickJS.create({
      wasm: options.wasm,
      memoryLimit: MEMORY_LIMIT_BYTES,
      maxStackSize: STACK_LIMIT_BYTES,
      interruptHandler: () => options.stop() !== undefined,
      wasi: (memory: WasmMemory) => {
        memories.push(memory);
        return {};
      },
    });
    const [memory] = memories;
    if (memory === undefined) throw new Error("the VM did not expose its memory");
    return new Guest(vm, memory, options);
  }

  /** Whether the VM can serve another evaluation; if not, dispose of it. */
  get usable(): boolean {
    return !this.#broken && this.#memory.buffer.byteLength <= KEPT_MEMORY_BYTES;
  }

  /** Evaluates code with global variables (a JSON object as text), and removes what the code defined. */
  evaluate(variables: string, code: string): StopResult {
    try {
      this.#define(code);
      const answer = this.#answer(variables, code);
      // Code may end after its deadline unnoticed, in a long built-in or by catching the interruption.
      const stopped = this.#stop();
      if (stopped !== undefined) throw new Error(stopped);
      if (!this.#call(this.#restore, (kept) => kept.toBoolean())) this.#broken = true;
      return toVerdict(answer);
    } catch (error) {
      // Interrupted, out of memory or stack where nothing could catch it, or a trap: the VM's state is undefined.
      this.#broken = true;
      return this.#diagnose(error);
    }
  }

  /** Frees the VM; the garbage collector frees one that trapped. */
  dispose(): void {
    try {
      this.#vm.dispose();
    } catch {
      // Its memory goes with the instance.
    }
  }

  #define(code: string): void {
    const missing = this.#namesIn(code).filter((name) => !this.#names.has(name));
    if (missing.length === 0) return;
    for (const name of missing) this.#names.add(name);
    using names = this.#vm.newString(JSON.stringify(missing));
    this.#call(this.#extend, () => undefined, names);
  }

  #answer(variables: string, code: string): string {
    using variablesText = this.#vm.newString(variables);
    using codeText = this.#vm.newString(code);
    const answer = this.#call(this.#evaluate, (text) => text.toString(), variablesText, codeText);
    this.#vm.executePendingJobs();
    return answer === "p" ? this.#call(this.#outcome, (text) => text.toString()) : answer;
  }

  #call<T>(hook: JSValueHandle, read: (result: JSValueHandle) => T, ...args: JSValueHandle[]): T {
    using result = this.#vm.callFunction(hook, this.#vm.undefined, ...args);
    return read(result);
  }

  #diagnose(error: unknown): StopResult {
    const stopped = this.#stop();
    if (stopped !== undefined) return stopResult(stopped);
    if (error instanceof JSException) return errorVerdict(`${error.name}: ${error.message}`);
    // The engine exceeded its stack without its own check noticing.
    if (error instanceof wasmApi.RuntimeError || error instanceof RangeError) return stopResult("stack");
    const message = error instanceof Error ? error.message : String(error);
    return errorVerdict(message.replace(/^Job execution error: /, ""));
  }
}

function callAndCheck({ call, stop }: GuestOptions, name: string, args: string): string {
  const answer = call(name, args);
  return stop() === undefined ? answer : "s";
}

function errorVerdict(message: string): StopResult {
  if (/^InternalError: (out of memory|string too long)/.test(message)) return stopResult("memory");
  if (message === "RangeError: Maximum call stack size exceeded") return stopResult("stack");
  return { ok: false, reason: "failed", message };
}

function toVerdict(answer: string): StopResult {
  const rest = answer.slice(1);
  if (answer.startsWith("e")) return errorVerdict(rest);
  if (answer.startsWith("p")) {
    return { ok: false, reason: "failed", message: "the result is a promise that never settles" };
  }
  if (rest.length > RESULT_LIMIT_CHARS) {
    return {
      ok: false,
      reason: "failed",
      message: `the result is longer than ${RESULT_LIMIT_CHARS} characters`,
    };
  }
  if (isDeep(rest)) {
    const message = `the result is nested more than ${RESULT_DEPTH_MAX} levels deep`;
    return { ok: false, reason: "failed", message };
  }
  return { ok: true, json: rest };
}

/** Whether arrays and objects are nested deeper than the services can store. */
function isDeep(json: string): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      for (at += 1; at < json.length && json.charCodeAt(at) !== QUOTE; at += 1)
        if (json.charCodeAt(at) === BACKSLASH) at += 1;
    } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth += 1;
      if (depth > RESULT_DEPTH_MAX) return true;
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth -= 1;
  }
  return false;
}
