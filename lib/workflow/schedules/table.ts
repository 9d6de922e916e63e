import type { Key, TableSpec } from "../../platform/tables.ts";

/** A cron trigger as the clock sees it. */
export interface StoredSchedule extends Key {
  readonly schedule_id: string;
  readonly workflow: string;
  readonly trigger: string;
  readonly expression: string;
  readonly timezone: string;
  readonly enabled: boolean;
  /** ISO 8601: the slot that is due next. */
  readonly next_run: string;
  readonly last_run: string | null;
  readonly run_count: number;
  /** `1` while enabled: what the clock looks at. */
  readonly due?: string;
}

export const schedulesTable: TableSpec<StoredSchedule> = {
  name: "schedules",
  indexes: { due: { pk: "due", sk: "next_run" } },
};

export const scheduleKey = (workflow: string, trigger: string): Key => ({ pk: workflow, sk: trigger });
