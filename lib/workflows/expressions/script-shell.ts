import type { Reference } from "./parse.ts";
import { renderShell, type ShellOptions } from "./render-shell.ts";
import { shellQuote } from "./shell-quote.ts";
import type { Values } from "./values.ts";

/** Code that ends where the arguments of a call begin whose text a shell runs. */
export const SHELL_CALL = /(?:^|[^\w$.])(?:exec_cmd|execCmd|bash)\s*\(\s*$/;

/** Likewise where it is the second argument that a shell runs, on another host. */
export const REMOTE_CALL = /(?:^|[^\w$.])(?:ssh_exec|sshExec)\s*\(\s*$/;

/** Likewise where the text is a program of another language, in which nobody knows how to quote a value. */
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
 * The command that a quoted literal of a script holds, given as the characters between its quotes with the
 * references among them: each value is set in a shell variable first, quoted, and the command names the
 * variable as its place needs. Throws TemplateError where a shell command could not hold the value either.
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

/** What the characters of a JavaScript string literal stand for. */
function unescaped(characters: string): string {
  return characters.replace(ESCAPE, (_all, braced?: string, four?: string, two?: string, other = "") => {
    const hex = braced ?? four ?? two;
    if (hex !== undefined) return String.fromCodePoint(Math.min(0x10ffff, Number.parseInt(hex, 16)));
    if (LINE_END.test(other)) return "";
    return Object.hasOwn(SHORT, other) ? (SHORT[other] ?? "") : other;
  });
}
