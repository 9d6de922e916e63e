import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { type FunctionContext, ScriptError } from "./library-types.ts";
import { textOf } from "./values.ts";

/** What a function reads into a value; counting and copying have no limit. */
export const READ_LIMIT_BYTES = 10 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** A longer line is taken as several. In UTF-16 units. */
const LINE_LIMIT_CHARS = 1024 * 1024;

/**
 * The absolute path. Relative ones start at the step's workspace; absolute ones may point anywhere, as they may
 * in the step's commands. Throws when it is empty or has a NUL in it.
 */
export function pathOf(path: unknown, context: FunctionContext): string {
  const text = textOf(path);
  if (text === "") throw new Error("the path is empty");
  if (text.includes("\0")) throw new Error("the path has a NUL in it");
  return isAbsolute(text) ? text : resolve(context.cwd, text);
}

/** Opens a regular file: devices and pipes would hold the script up where nothing can end it. */
export function openFile(path: string, flags: number = constants.O_RDONLY): number {
  const fd = openSync(path, flags | constants.O_NONBLOCK, 0o644);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new Error(`${path} is no file`);
}

/** The file in chunks of up to 64 KiB, which are valid until the next; not more than `limit` bytes. */
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

/** The file's text. Throws ScriptError when it is larger than may be read. */
export function readText(path: unknown, context: FunctionContext): string {
  const chunks: Buffer[] = [];
  let size = 0;
  for (const chunk of chunksOf(pathOf(path, context))) {
    size += chunk.length;
    if (size > READ_LIMIT_BYTES) {
      throw new ScriptError(
        `${textOf(path)} is larger than the ${READ_LIMIT_BYTES / 1024 / 1024} MiB that may be read`,
      );
    }
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The file's lines without their ends, read as they are asked for. */
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
