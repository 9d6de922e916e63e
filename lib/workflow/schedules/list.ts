import { readAll } from "../../events/read-all.ts";
import type { Listing, PageQuery } from "../lists/read.ts";
import type { ScheduleDeps } from "./manage.ts";
import { type ScheduleRecord, toScheduleRecord } from "./record.ts";
import { SCHEDULE_LIST, type StoredSchedule, schedulesTable } from "./table.ts";

export interface ScheduleFilters {
  readonly workflow?: string | undefined;
  readonly trigger_type?: string | undefined;
  readonly enabled?: boolean | undefined;
}

/** Schedules made by request and triggers of all workflows, newest first. Reference 1.5. */
export async function listSchedules(
  deps: ScheduleDeps,
  filters: ScheduleFilters,
  { offset, limit }: PageQuery,
): Promise<Listing<ScheduleRecord>> {
  const [rows, { heads }] = await Promise.all([
    readAll(deps, schedulesTable, { index: "list", pk: SCHEDULE_LIST, reverse: true }),
    deps.catalog.current(),
  ]);
  const listed = rows.filter((row) => isListed(row, filters));
  const byName = new Map(heads.map((head) => [head.name, head]));
  const now = deps.clock.now();
  const page = listed
    .slice(offset, offset + limit)
    .map((row) => toScheduleRecord(row, byName.get(row.workflow), now));
  return { total: listed.length, items: onePage(page) };
}

function isListed(row: StoredSchedule, { workflow, trigger_type, enabled }: ScheduleFilters): boolean {
  return (
    (workflow === undefined || row.workflow === workflow) &&
    (trigger_type === undefined || row.type === trigger_type) &&
    (enabled === undefined || row.enabled === enabled)
  );
}

async function* onePage<Item>(items: Item[]): AsyncGenerator<Item[]> {
  yield items;
}
