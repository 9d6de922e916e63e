import { readFile } from "node:fs/promises";
import { Guest } from "../../scripts/guest.ts";
import { isPlainExpression } from "../../scripts/plain-expression.ts";
import { toOutcome } from "../../scripts/script-messages.ts";
import { wasmApi } from "../../scripts/web-assembly.ts";
import type { ScriptOutcome, ScriptRequest } from "../../scripts.ts";

/** Maximum length of the variables' JSON: reading and combining them must take negligible time. */
const VARIABLES_CHARS_MAX = 4_096;
/** An expression that takes longer is evaluated in a thread, milliseconds: some ten times what the longest one takes. */
const LONGEST_MS = 50;

/**
 * Evaluates plain expressions in the event loop, in one VM for all of them: they end at once and leave nothing behind.
 * Waking a thread for them would take longer than they do.
 */
export class PlainExpressions {
  #engine: Promise<WebAssembly.Module> | undefined;
  #guest: Promise<Guest> | undefined;
  #endAt = Number.POSITIVE_INFINITY;

  /** Undefined if the script is not a plain expression, takes too long, or the engine cannot be read. */
  async run({ code, variables: values, signal }: ScriptRequest): Promise<ScriptOutcome | undefined> {
    if (signal?.aborted === true || !isPlainExpression(code, values)) return undefined;
    const variables = JSON.stringify(values);
    if (variables.length > VARIABLES_CHARS_MAX) return undefined;
    this.#guest ??= this.#create();
    const creating = this.#guest;
    const guest = await creating.catch(() => undefined);
    if (guest?.usable !== true) {
      if (this.#guest === creating) this.#guest = undefined;
      return undefined;
    }
    this.#endAt = performance.now() + LONGEST_MS;
    const verdict = guest.evaluate(variables, code);
    this.#endAt = Number.POSITIVE_INFINITY;
    if (!guest.usable) {
      this.#guest = undefined;
      guest.dispose();
    }
    if (!verdict.ok && verdict.reason !== "failed") return undefined;
    return toOutcome({ ...verdict, events: [], logs: [] });
  }

  async #create(): Promise<Guest> {
    this.#engine ??= readEngine();
    return Guest.create({
      wasm: await this.#engine,
      namesIn: () => [],
      call: () => "eno function is available here",
      stop: () => (performance.now() > this.#endAt ? "timeout" : undefined),
    });
  }
}

async function readEngine(): Promise<WebAssembly.Module> {
  return wasmApi.compile(await readFile(new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm"))));
}
