import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { textOf } from "./argument-values.ts";
import { type FunctionContext, ScriptError, UnreachablePathError } from "./library-types.ts";

/** Maximum number of bytes that a function reads into a value; counting and copying have no limit. */
export const READ_LIMIT_BYTES = 10 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** A longer line is split. In UTF-16 units. */
const LINE_LIMIT_CHARS = 1024 * 1024;
/** Maximum length of one text that a function returns, UTF-16 units. */
const TEXT_LIMIT_CHARS = 10 * 1024 * 1024;
const SHOWN_PATH_MAX = 200;

/** The base folder of relative paths, and further folders that functions may access. */
type Reach = Pick<FunctionContext, "cwd" | "folders">;

/**
 * Resolves a path and its links to an absolute path, which need not exist. Relative paths start at the step's
 * workspace. Throws if it is empty or contains a NUL, and UnreachablePathError if it leads out of the workspace and
 * the folders that functions may access.
 */
export function pathOf(path: unknown, context: Reach): string {
  const text = textOf(path);
  if (text === "") throw new Error("the path is empty");
  if (text.includes("\0")) throw new Error("the path contains a NUL");
  const absolute = realPath(resolve(context.cwd, text));
  for (const folder of [context.cwd, ...(context.folders ?? [])])
    if (isInside(absolute, realPath(resolve(folder)))) return absolute;
  throw new UnreachablePathError(
    `${text.slice(0, SHOWN_PATH_MAX)} is outside of the workspace and of the folders that functions may use (FUNCTION_FOLDERS)`,
  );
}

/**
 * As `pathOf`, but does not follow a link at the end: for functions that remove or move it. Also throws for the
 * accessible folders themselves.
 */
export function entryOf(path: unknown, context: FunctionContext): string {
  const text = textOf(path);
  if (text === "") throw new Error("the path is empty");
  const whole = resolve(context.cwd, text);
  const name = basename(whole);
  const entry = join(pathOf(dirname(whole), context), name);
  if (isInside(realPath(resolve(context.cwd)), entry))
    throw new ScriptError(`${text.slice(0, SHOWN_PATH_MAX)} contains the workspace`);
  return entry;
}

/** Resolves the path of a function's output and creates its parent folders. */
export function outputOf(path: unknown, context: Reach): string {
  const target = pathOf(path, context);
  mkdirSync(dirname(target), { recursive: true });
  return target;
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/**
 * Resolves links as far as the path exists. Throws UnreachablePathError for a dangling link: a write would follow it.
 */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
  }
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw new UnreachablePathError(`${basename(path)} is a broken link`);
  const above = dirname(path);
  return above === path ? path : join(realPath(above), basename(path));
}

/** Opens a regular file: devices and pipes could block the script indefinitely. */
export function openFile(path: string, flags: number = constants.O_RDONLY): number {
  const fd = openSync(path, flags | constants.O_NONBLOCK, 0o644);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new Error(`${path} is not a file`);
}

/** The file in chunks of up to 64 KiB, valid until the next one; at most `limit` bytes. */
export function* chunksOf(path: string, limit: number = Number.POSITIVE_INFINITY): Generator<Buffer> {
  const fd = openFile(path);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let left = limit; left > 0; ) {
      const size = readSync(fd, buffer, 0, Math.min(CHUNK_BYTES, left), null);
      if (size === 0) return;
      left -= size;
      yield buffer.subarray(0, size);
    }
  } finally {
    closeSync(fd);
  }
}

/** Reads the file's text. Throws ScriptError if it exceeds the limit. */
export function readText(path: unknown, context: FunctionContext): string {
  const chunks: Buffer[] = [];
  let size = 0;
  for (const chunk of chunksOf(pathOf(path, context))) {
    size += chunk.length;
    if (size > READ_LIMIT_BYTES) {
      throw new ScriptError(
        `${textOf(path)} is larger than the limit of ${READ_LIMIT_BYTES / 1024 / 1024} MiB`,
      );
    }
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The file's lines without line endings, read lazily. */
export function* linesOf(path: unknown, context: FunctionContext): Generator<string> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for (const chunk of chunksOf(pathOf(path, context))) {
    const parts = (rest + decoder.write(chunk)).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) yield withoutReturn(part);
    if (rest.length > LINE_LIMIT_CHARS) {
      yield rest;
      rest = "";
    }
  }
  rest += decoder.end();
  if (rest !== "") yield withoutReturn(rest);
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/**
 * Writes the lines to a temporary file and renames it, so that the file is never partial and may also be the source of
 * the lines. Creates parent folders. Returns the number of lines.
 */
export function writeLines(path: unknown, lines: Iterable<string>, context: FunctionContext): number {
  const target = outputOf(path, context);
  const draft = join(dirname(target), `.${process.pid}-${randomUUID()}.part`);
  const fd = openFile(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  let count = 0;
  try {
    let text = "";
    for (const line of lines) {
      text += `${line}\n`;
      count += 1;
      if (text.length < CHUNK_BYTES) continue;
      writeSync(fd, text);
      text = "";
    }
    if (text !== "") writeSync(fd, text);
    if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory() === true)
      throw new Error(`${basename(target)} is a folder`);
    renameSync(draft, target);
  } catch (error) {
    unlinkSync(draft);
    throw error;
  } finally {
    closeSync(fd);
  }
  return count;
}

/** Joins the lines. Throws ScriptError if the text exceeds the limit. */
export function joinLines(lines: Iterable<string>): string {
  const kept: string[] = [];
  let length = 0;
  for (const line of lines) {
    length += line.length + 1;
    if (length > TEXT_LIMIT_CHARS)
      throw new ScriptError(`the result is longer than ${TEXT_LIMIT_CHARS} characters: write it to a file`);
    kept.push(line);
  }
  return kept.join("\n");
}
