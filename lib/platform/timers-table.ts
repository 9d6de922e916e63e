import type { Key, TableSpec } from "./tables.ts";

/** A timer that is too far off to be a delayed message, or whose queue cannot delay. */
export interface DueTimer extends Key {
  readonly due: string;
  readonly dueAt: string;
  readonly at: number;
  readonly queue: string;
  readonly body: string;
  readonly groupId?: string;
  readonly deduplicationId?: string;
}

/** Timers of a platform that has no clock of its own for them. */
export const timersTable: TableSpec<DueTimer> = {
  name: "timers",
  indexes: { byTime: { pk: "due", sk: "dueAt" } },
};
