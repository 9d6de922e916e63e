import * as z from "zod";
import type { Ports } from "../../platform/ports.ts";
import type { ListDeps } from "../lists/list.ts";
import { listVulnerabilities } from "./list.ts";
import { SEVERITIES } from "./table.ts";

/** Maximum days in one response. */
export const TIMELINE_DAYS_MAX = 366;
/** Maximum vulnerabilities that are counted, the newest ones. */
const RECORDS_MAX = 100_000;
const DAY_MS = 24 * 3_600_000;

export const vulnerabilityTimeline = z
  .object({
    days: z.array(
      z.object({
        date: z.string().describe("Day in UTC, YYYY-MM-DD"),
        by_severity: z.record(z.string(), z.int()).describe("Other severities count as `other`"),
      }),
    ),
    truncated: z
      .boolean()
      .describe(`Whether the first days are incomplete because only the newest ${RECORDS_MAX} were counted`),
  })
  .meta({ id: "VulnerabilityTimeline" });
type Timeline = z.infer<typeof vulnerabilityTimeline>;

/** Counts the vulnerabilities that were found on each of the last days, by severity. The last day is today. */
export async function readTimeline(
  deps: ListDeps & Pick<Ports, "clock">,
  workspace: string | undefined,
  count: number,
): Promise<Timeline> {
  const today = deps.clock.now();
  const days = Array.from({ length: count }, (_, index) => ({
    date: dateOf(today - (count - 1 - index) * DAY_MS),
    by_severity: {} as Record<string, number>,
  }));
  const byDate = new Map(days.map((day) => [day.date, day.by_severity]));
  const first = days[0]?.date ?? "";
  const page = { offset: 0, limit: RECORDS_MAX };
  const { total, items } = await listVulnerabilities(deps, { workspace }, page);
  for await (const records of items) {
    for (const { created_at, severity } of records) {
      const date = created_at.slice(0, first.length);
      // The list is ordered by the time of creation, newest first.
      if (date < first) return { days, truncated: false };
      const counts = byDate.get(date);
      if (counts === undefined) continue;
      const name = SEVERITIES.find((one) => one === severity) ?? "other";
      counts[name] = (counts[name] ?? 0) + 1;
    }
  }
  return { days, truncated: total > RECORDS_MAX };
}

const dateOf = (time: number): string => new Date(time).toISOString().slice(0, "YYYY-MM-DD".length);
