import { open } from "node:fs/promises";
import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { StepPaths } from "../steps/context.ts";
import { flushLog, runLogPath } from "../steps/run-log.ts";
import { getRun } from "./read.ts";

/** Largest part of a log in one response, bytes. */
const LOG_MAX_BYTES = 1024 * 1024;
const NEWLINE = 10;

export const logRecord = z
  .object({
    run_id: z.string(),
    status: z.string(),
    log: z.string(),
    offset: z.int().describe("Position of the text in the log, bytes"),
    next_offset: z.int().describe("Position of the next read"),
    size: z.int().describe("Current size of the log, bytes"),
  })
  .meta({ id: "RunLog" });

type LogDeps = Pick<Ports, "tables" | "outbox"> & { readonly paths: Pick<StepPaths, "logsDir"> };

export interface LogPart {
  /** Number of lines from the end. */
  readonly tail?: number | undefined;
  /** Position of the first byte. */
  readonly offset?: number | undefined;
}

/**
 * Reads a part of a run's log, at most 1 MiB of whole lines; by default from the beginning. Throws `not_found` if the
 * run does not exist, or if its steps were executed only on other machines, which keep the log; `bad_request` if both
 * `tail` and `offset` are given.
 */
export async function readRunLog(
  deps: LogDeps,
  idOrNumber: string,
  { tail, offset }: LogPart,
): Promise<z.infer<typeof logRecord>> {
  if (tail !== undefined && offset !== undefined)
    throw new ApiError("bad_request", "query.tail: must not be combined with offset");
  const { run_id, status, unlogged } = await getRun(deps, idOrNumber);
  const path = runLogPath(deps.paths, run_id);
  await flushLog(path);
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) {
    if (status !== "pending" && unlogged !== true && deps.outbox.atomic !== true)
      throw new ApiError(
        "not_found",
        "The log of this run is not on this machine: it is on the worker that executed its steps",
      );
    return { run_id, status, log: "", offset: 0, next_offset: 0, size: 0 };
  }
  try {
    const { size } = await file.stat();
    const from = tail === undefined ? Math.min(offset ?? 0, size) : Math.max(0, size - LOG_MAX_BYTES);
    const buffer = Buffer.alloc(Math.min(LOG_MAX_BYTES, size - from));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
    const read = buffer.subarray(0, bytesRead);
    const part = tail === undefined ? wholeLines(read) : lastLines(read, tail, from > 0);
    const start = tail === undefined ? from : from + bytesRead - part.length;
    return {
      run_id,
      status,
      log: part.toString("utf8"),
      offset: start,
      next_offset: start + part.length,
      size,
    };
  } finally {
    await file.close();
  }
}

function wholeLines(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  return end === 0 ? bytes : bytes.subarray(0, end);
}

/** If the text was cut, its first line is incomplete and is dropped. */
function lastLines(bytes: Buffer, count: number, cut: boolean): Buffer {
  let at = bytes.length - 1;
  for (let lines = 0; lines < count; lines += 1) {
    at = at <= 0 ? -1 : bytes.lastIndexOf(NEWLINE, at - 1);
    if (at === -1) return cut ? bytes.subarray(bytes.indexOf(NEWLINE) + 1) : bytes;
  }
  return bytes.subarray(at + 1);
}
