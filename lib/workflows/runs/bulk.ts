import * as z from "zod";
import { ERROR_STATUS, toApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";

/** Runs that one request may name, how many of them it handles concurrently, and for how long, milliseconds. */
const IDS_MAX = 100;
const AT_ONCE = 8;
const ACTING_MS = 20_000;

/** Ids or numbers of runs, in a body. */
export const runIds = z
  .array(z.string().min(1, "must not be empty").max(128))
  .min(1, "must name at least one run")
  .max(IDS_MAX, `must name at most ${IDS_MAX} runs`);

/** The result for one of the runs that a request names. */
export const runResult = z
  .object({
    id: z.string().describe("As the request names the run"),
    ok: z.boolean(),
    run_id: z.string().describe("Id of the cancelled or the new run; empty after an error"),
    error: z.string().describe("Empty if it succeeded"),
  })
  .meta({ id: "RunResult" });
export type RunResult = z.infer<typeof runResult>;

/**
 * Does something with each of the runs and returns the results in their order, without duplicates. Runs for
 * which no time is left are not changed, and their result says so.
 */
export async function forEachRun(
  deps: Pick<Ports, "clock" | "log">,
  ids: readonly string[],
  act: (id: string) => Promise<string>,
): Promise<RunResult[]> {
  const began = deps.clock.now();
  const unique = [...new Set(ids)];
  const results = unique.map((id): RunResult => ({ id, ok: false, run_id: "", error: "" }));
  const next = results.entries();
  const work = async (): Promise<void> => {
    for (const [at, { id }] of next) results[at] = await resultOf(deps, id, began, act);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

async function resultOf(
  { clock, log }: Pick<Ports, "clock" | "log">,
  id: string,
  began: number,
  act: (id: string) => Promise<string>,
): Promise<RunResult> {
  if (clock.now() - began > ACTING_MS)
    return { id, ok: false, run_id: "", error: "There was no time for this run; repeat the request for it" };
  try {
    return { id, ok: true, run_id: await act(id), error: "" };
  } catch (thrown) {
    const { code, message } = toApiError(thrown);
    if (ERROR_STATUS[code] >= 500) log.error("request failed for a run", { run: id, error: thrown });
    return { id, ok: false, run_id: "", error: message };
  }
}
