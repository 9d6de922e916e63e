import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { nextFire } from "../cron/cron.ts";
import { scheduleKey, schedulesTable } from "../store/trigger-tables.ts";

/** Maximum times in one response. */
export const NEXT_RUNS_MAX = 100;

export const nextRunsResponse = z.object({
  data: z.array(z.string()).describe("Times in ISO 8601, the next one first"),
});

/**
 * The times at which a schedule fires next. Empty if it is not a cron schedule, and while it is disabled. Throws
 * `not_found`.
 */
export async function listNextRuns(
  deps: Pick<Ports, "tables" | "clock">,
  id: string,
  count: number,
): Promise<z.infer<typeof nextRunsResponse>> {
  const row = await deps.tables.get(schedulesTable, scheduleKey(id));
  if (row === undefined) throw new ApiError("not_found", "Schedule not found");
  if (!row.enabled || row.next_run === undefined) return { data: [] };
  const data = [row.next_run];
  while (data.length < count) {
    const last = Math.max(deps.clock.now(), Date.parse(data.at(-1) ?? ""));
    data.push(new Date(nextFire(row.expression, row.timezone, last)).toISOString());
  }
  return { data: data.slice(0, count) };
}
