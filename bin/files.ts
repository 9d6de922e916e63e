import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { CommandFailure } from "./errors.ts";

const STANDARD_INPUT = 0;

/** Reads a file, or standard input for `-`; invalid UTF-8 is replaced. Throws CommandFailure. */
export function readText(path: string): string {
  return readBytes(path).toString("utf8");
}

/** Like `readText`, but throws CommandFailure if the file is not text in UTF-8. */
export function readPlainText(path: string): string {
  const bytes = readBytes(path);
  if (!isUtf8(bytes) || bytes.includes(0)) throw new CommandFailure(`${path} is not a text file in UTF-8.`);
  return bytes.toString("utf8");
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path === "-" ? STANDARD_INPUT : path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new CommandFailure(`The file ${path} does not exist.`);
    throw new CommandFailure(`${path} cannot be read (${code}).`);
  }
}

/** Reads a file of targets, one per line, without blank lines and comments. Throws CommandFailure. */
export function readTargets(path: string): string[] {
  return readPlainText(path)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}
