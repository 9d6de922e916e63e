import type { Listing, PageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import { compareBy } from "../lists/compare-by.ts";
import { cachedFilter } from "../lists/filter-cache.ts";
import { onePage } from "../lists/read-list.ts";
import type { Catalog, CatalogReader } from "../store/catalog.ts";
import { type StoredSchedule, scheduleKey, schedulesTable } from "../store/trigger-tables.ts";
import type { ScheduleDeps } from "./manage.ts";
import { type ScheduleRecord, toScheduleRecord } from "./schedule-record.ts";

/** Orders by what a request changes. Firings change the other columns, and would sort the list anew each time. */
export const SCHEDULE_ORDERINGS = [
  "-created_at",
  "created_at",
  "workflow_name",
  "-workflow_name",
  "name",
  "-name",
  "trigger_type",
  "-trigger_type",
] as const;
type ScheduleOrdering = (typeof SCHEDULE_ORDERINGS)[number];

export interface ScheduleFilters {
  /** Newest first if it is undefined. */
  readonly ordering?: ScheduleOrdering | undefined;
  readonly workflow?: string | undefined;
  readonly trigger_type?: string | undefined;
  readonly enabled?: boolean | undefined;
}

/** The fields that a list is sorted and filtered by; they change only with the catalog. */
type Entry = Pick<StoredSchedule, "schedule_id" | "workflow" | "trigger" | "type" | "enabled" | "listed_at">;

/** Read once per version of the catalog. */
const entries = new WeakMap<Catalog, Promise<readonly Entry[]>>();

/**
 * Returns schedules created by request and triggers of all workflows, newest first unless the filters say otherwise.
 * Reference 1.5.
 */
export async function listSchedules(
  deps: ScheduleDeps,
  filters: ScheduleFilters,
  page: PageRequest,
): Promise<Listing<ScheduleRecord>> {
  const { total, rows } = await scheduleRows(deps, filters, page);
  const { byName } = await deps.catalog.current();
  const now = deps.clock.now();
  return { total, items: onePage(rows.map((row) => toScheduleRecord(row, byName.get(row.workflow), now))) };
}

/** Returns one page of the matching rows in the order asked for, and their total. */
export async function scheduleRows(
  deps: Pick<Ports, "tables"> & { readonly catalog: CatalogReader },
  filters: ScheduleFilters,
  { offset, limit }: PageRequest,
): Promise<{ readonly total: number; readonly rows: readonly StoredSchedule[] }> {
  const catalog = await deps.catalog.current();
  let known = entries.get(catalog);
  if (known === undefined) {
    known = readEntries(deps, catalog);
    entries.set(catalog, known);
    known.catch(() => entries.delete(catalog));
  }
  const listed = listedEntries(await known, filters);
  const keys = listed.slice(offset, offset + limit).map(({ schedule_id }) => scheduleKey(schedule_id));
  const rows = keys.length === 0 ? [] : await deps.tables.batchGet(schedulesTable, keys);
  return { total: listed.length, rows };
}

async function readEntries(deps: Pick<Ports, "tables">, catalog: Catalog): Promise<readonly Entry[]> {
  const declared = [...catalog.triggers.values()].flat().filter(({ origin }) => origin === "workflow");
  const ids = [...declared.map(({ scheduleId }) => scheduleId), ...catalog.made];
  if (ids.length === 0) return [];
  const rows = await deps.tables.batchGet(schedulesTable, ids.map(scheduleKey));
  return rows
    .map(({ schedule_id, workflow, trigger, type, enabled, listed_at }) => ({
      schedule_id,
      workflow,
      trigger,
      type,
      enabled,
      listed_at,
    }))
    .sort(compareBy<Entry>("-created_at", sortValue));
}

function sortValue({ workflow, trigger, type, listed_at }: Entry, field: string): string {
  if (field === "workflow_name") return workflow;
  if (field === "name" || field === "trigger_name") return trigger;
  return field === "trigger_type" ? type : listed_at;
}

function isListed(entry: Entry, { workflow, trigger_type, enabled }: ScheduleFilters): boolean {
  return (
    (workflow === undefined || entry.workflow === workflow) &&
    (trigger_type === undefined || entry.type === trigger_type) &&
    (enabled === undefined || entry.enabled === enabled)
  );
}

const listedEntries = cachedFilter(isListed, ({ ordering = "-created_at" }: ScheduleFilters) =>
  ordering === "-created_at" ? undefined : compareBy<Entry>(ordering, sortValue),
);
