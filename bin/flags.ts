import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { type Arguments, CommandFailure, type Flag, textFlag, UsageError } from "./command.ts";

/** Which part of a list is shown. */
export const PAGE_FLAGS = {
  limit: { type: "string", value: "COUNT", whole: true, summary: "most to show (20)", of: ["list"] },
  offset: { type: "string", value: "COUNT", whole: true, summary: "how many to skip (0)", of: ["list"] },
} as const satisfies Readonly<Record<string, Flag>>;

/** What a run is given. */
export const PARAM_FLAG: Flag = {
  type: "string",
  short: "p",
  value: "KEY=VALUE",
  summary: "A parameter",
  multiple: true,
};

/** The texts of a flag that may be given several times. */
export function textFlags({ flags }: Arguments, name: string): readonly string[] {
  const value = flags[name];
  if (typeof value === "string") return [value];
  return typeof value === "object" ? value : [];
}

/** The parameters of `-p key=value`. Throws UsageError. */
export function paramFlags(args: Arguments): Record<string, string> {
  return Object.fromEntries(
    textFlags(args, "param").map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw new UsageError(`--param must be KEY=VALUE, not '${text}'.`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

/** A query of what was given: each flag under its name with `_` for `-`. */
export function queryOf(args: Arguments, names: readonly string[]): string {
  const query = new URLSearchParams();
  for (const name of names) {
    const value = textFlag(args, name);
    if (value !== undefined) query.set(name.replaceAll("-", "_"), value);
  }
  return query.size === 0 ? "" : `?${query}`;
}

const STANDARD_INPUT = 0;

/** A file's text; standard input for `-`. What is no UTF-8 in it is replaced. Throws CommandFailure. */
export function readText(path: string): string {
  return readBytes(path).toString("utf8");
}

/** As `readText`. Throws CommandFailure too where it is not text. */
export function readPlainText(path: string): string {
  const bytes = readBytes(path);
  if (!isUtf8(bytes) || bytes.includes(0)) throw new CommandFailure(`${path} is not text in UTF-8.`);
  return bytes.toString("utf8");
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path === "-" ? STANDARD_INPUT : path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new CommandFailure(`There is no file ${path}.`);
    throw new CommandFailure(`${path} cannot be read (${code}).`);
  }
}

/** The targets of a file, a line each; blank lines and remarks are passed over. Throws CommandFailure. */
export function readTargets(path: string): string[] {
  return readPlainText(path)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}
