import type { Key, TableSpec } from "./tables.ts";

/** A timer that exceeds the maximum delay of a message, or whose queue does not support delays. */
export interface DueTimer extends Key {
  readonly due: string;
  readonly dueAt: string;
  readonly at: number;
  readonly queue: string;
  readonly body: string;
  readonly groupId?: string;
  readonly deduplicationId?: string;
}

/** Timers of a platform without a timer service. */
export const timersTable: TableSpec<DueTimer> = {
  name: "timers",
  indexes: { byTime: { pk: "due", sk: "dueAt" } },
};
