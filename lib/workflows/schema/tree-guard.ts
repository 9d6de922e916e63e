import { DEFINITION_DEPTH, DEFINITION_KEYS, KEYS_PER_MAP, TEXT_CHARACTERS } from "./limits.ts";

/** Keys that can pollute prototypes when assigned. */
const REFUSED_KEYS = new Set(["__proto__", "constructor", "prototype"]);

/** Checks the size of one definition while its tree is traversed; every check returns a message or undefined. */
export class TreeGuard {
  #keys = 0;

  enter(depth: number): string | undefined {
    return depth > DEFINITION_DEPTH ? `nested deeper than ${DEFINITION_DEPTH} levels` : undefined;
  }

  map(keys: number): string | undefined {
    this.#keys += keys;
    if (keys > KEYS_PER_MAP) return `more than ${KEYS_PER_MAP} keys in one map`;
    return this.#keys > DEFINITION_KEYS ? `more than ${DEFINITION_KEYS} keys` : undefined;
  }

  key(key: string): string | undefined {
    return REFUSED_KEYS.has(key) ? `the key "${key}" is not allowed` : this.text(key);
  }

  text(text: string): string | undefined {
    if (text.length > TEXT_CHARACTERS) return `longer than ${TEXT_CHARACTERS} characters`;
    if (text.includes("\0")) return "NUL characters are not allowed";
    return text.isWellFormed() ? undefined : "unpaired surrogates are not allowed";
  }
}

/** Parts that are passed on to another program unchanged: numbers and nulls are kept. */
const FREE_FORM_KEYS = new Set([
  "messages",
  "llm_config",
  "tools",
  "extra_llm_parameters",
  "step_runner_config",
]);

export function isFreeForm(path: readonly (string | number)[]): boolean {
  return path.some((part) => typeof part === "string" && FREE_FORM_KEYS.has(part));
}
