import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { StepPaths } from "../steps/context.ts";
import { flushLog, runLogPath } from "../steps/run-log.ts";
import { getRun } from "./read.ts";
import { checkRange, openText, readPart, type TextRange } from "./text-part.ts";

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

export type RunLogDeps = Pick<Ports, "tables" | "outbox"> & { readonly paths: Pick<StepPaths, "logsDir"> };

/**
 * Reads a part of a run's log, at most 1 MiB of whole lines; by default from the beginning. Throws `not_found` if the
 * run does not exist, or if its steps were executed only on other machines, which keep the log; `bad_request` if both
 * `tail` and `offset` are given.
 */
export async function readRunLog(
  deps: RunLogDeps,
  idOrNumber: string,
  range: TextRange,
): Promise<z.infer<typeof logRecord>> {
  checkRange(range);
  const { run_id, status, unlogged } = await getRun(deps, idOrNumber);
  const path = runLogPath(deps.paths, run_id);
  await flushLog(path);
  const file = await openText([path]);
  if (file === undefined) {
    if (status !== "pending" && unlogged !== true && deps.outbox.atomic !== true)
      throw new ApiError(
        "not_found",
        "The log of this run is not on this machine: it is on the worker that executed its steps",
      );
    return { run_id, status, log: "", offset: 0, next_offset: 0, size: 0 };
  }
  try {
    const { bytes, offset } = await readPart(file, range);
    return {
      run_id,
      status,
      log: bytes.toString("utf8"),
      offset,
      next_offset: offset + bytes.length,
      size: file.size,
    };
  } finally {
    await file.close();
  }
}
