import { spellingsOf } from "../script-library/callables.ts";
// The names of the library's functions; the library itself is loaded only where scripts are evaluated.
import rows from "./functions.json" with { type: "json" };

const NAMES: ReadonlySet<string> = new Set(rows.flatMap(([name = ""]) => spellingsOf(name)));
const IDENTIFIER = /[A-Za-z_$][\w$]*/g;

/**
 * Whether a script names no function of the library. Functions are defined only for scripts that name them, so it
 * consists of code for the VM alone.
 */
export function isSelfContained(code: string): boolean {
  for (const [name] of code.matchAll(IDENTIFIER)) if (NAMES.has(name)) return false;
  return true;
}
