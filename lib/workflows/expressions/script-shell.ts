import type { Reference } from "./parse.ts";
import { renderShell, type ShellOptions } from "./render-shell.ts";
import { shellQuote } from "./shell-quote.ts";
import type { Values } from "./values.ts";

/** Code that ends at the start of the arguments of a call that runs its text in a shell. */
export const SHELL_CALL = /(?:^|[^\w$.])(?:exec_cmd|execCmd|bash)\s*\(\s*$/;

/** Code that ends at the start of the arguments of a call whose second argument runs in a shell on another host. */
export const REMOTE_CALL = /(?:^|[^\w$.])(?:ssh_exec|sshExec)\s*\(\s*$/;

/**
 * Code that ends at the start of the arguments of a call whose text is a program in a language for which values cannot
 * be quoted.
 */
export const PROGRAM_CALL = /(?:^|[^\w$.])(?:exec_python|execPython|exec_ts|execTs)\s*\(\s*$/;

const ESCAPE = /\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))/g;
const SHORT: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  v: "\v",
  0: "\0",
};
const LINE_END = /^(?:\r\n|[\n\r\u2028\u2029])$/;

/**
 * The shell command in a quoted literal of a script, given as the characters between its quotes and the references
 * among them. Each value is first assigned, quoted, to a shell variable; the command expands the variable as its
 * position requires. Throws TemplateError if a shell command could not contain the value either.
 */
export function shellText(
  pieces: readonly (string | Reference)[],
  values: Values,
  options: Pick<ShellOptions, "trusted">,
): string {
  const parts: (string | Reference)[] = [];
  let written = "";
  for (const piece of pieces) {
    if (typeof piece === "string") written += piece;
    else {
      parts.push(unescaped(written), piece);
      written = "";
    }
  }
  parts.push(unescaped(written));
  const text = parts.filter((part) => typeof part === "string").join("");
  const { script, env } = renderShell({ text, parts }, values, options);
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${shellQuote(value)}\n`);
  return variables.join("") + script;
}

/** Decodes the escapes of a JavaScript string literal. */
function unescaped(characters: string): string {
  return characters.replace(ESCAPE, (_all, braced?: string, four?: string, two?: string, other = "") => {
    const hex = braced ?? four ?? two;
    if (hex !== undefined) return String.fromCodePoint(Math.min(0x10ffff, Number.parseInt(hex, 16)));
    if (LINE_END.test(other)) return "";
    return Object.hasOwn(SHORT, other) ? (SHORT[other] ?? "") : other;
  });
}
