import type { Key, TableSpec } from "../../platform/tables.ts";
import type { Trigger } from "../schema/types.ts";

/** A trigger of a workflow, declared in its file or made by request: both are rows of one table. */
export interface StoredSchedule extends Key {
  readonly schedule_id: string;
  readonly workflow: string;
  /** Its name in the workflow's file; the schedule's own where it was made by request. */
  readonly trigger: string;
  readonly type: Trigger["type"];
  readonly origin: "workflow" | "api";
  /** As it was declared; `enabled` in it is what the file says. */
  readonly spec: Trigger;
  /** Of a cron trigger; empty for the others. */
  readonly expression: string;
  readonly timezone: string;
  readonly enabled: boolean;
  /** ISO 8601: the slot that is due next; absent where no clock fires it. */
  readonly next_run?: string;
  readonly last_run: string | null;
  readonly run_count: number;
  /** Given to each of its runs; what the event brings goes before. */
  readonly target: string;
  readonly workspace: string;
  readonly params: Readonly<Record<string, string>>;
  /** Why it cannot fire, where that is known. */
  readonly error: string;
  /** ISO 8601: until when it starts nothing, having fired too often. */
  readonly breaker_open_until: string | null;
  readonly webhook_id?: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** `1` while enabled and fired by the clock: what the clock looks at. */
  readonly due?: string;
  /** Sorts as they were made. */
  readonly listed_at: string;
}

export const schedulesTable: TableSpec<StoredSchedule> = {
  name: "schedules",
  indexes: { due: { pk: "due", sk: "next_run" } },
};

/** Names of workflows and triggers have no colon. */
export const declaredId = (workflow: string, trigger: string): string => `sch_${workflow}:${trigger}`;
export const scheduleKey = (scheduleId: string): Key => ({ pk: scheduleId, sk: "schedule" });

/**
 * What triggers keep beside their rows. By partition: `override`, a declared trigger that was switched or deleted by
 * request; `made`, the schedules made by request; `webhook`, which trigger an address belongs to; `once:<id>`,
 * keys and signatures that were taken; `files:<id>`, files that a watch has seen;
 * `root:<id>`, how many runs a root cause has started through others.
 */
export interface TriggerState extends Key {
  readonly schedule_id?: string;
  readonly enabled?: boolean;
  readonly deleted?: boolean;
  readonly workflow?: string;
  readonly spec?: Trigger;
  /** Of a file: when it was last changed, and its size. */
  readonly stamp?: string;
  /** Of a file: the run that its last change started, and how many runs led to it. */
  readonly run_id?: string;
  readonly hop?: number;
  readonly root_cause?: string;
  /** Of a root cause: the runs that were started through its own. */
  readonly runs?: number;
  /** `1` where the item goes when its time is over, and when that is, ISO 8601. */
  readonly expires?: string;
  readonly until?: string;
}

export const triggerStateTable: TableSpec<TriggerState> = {
  name: "trigger-state",
  indexes: { expires: { pk: "expires", sk: "until" } },
};

export const OVERRIDES = "override";
export const CREATED = "made";
export const overrideKey = (scheduleId: string): Key => ({ pk: OVERRIDES, sk: scheduleId });
export const createdKey = (scheduleId: string): Key => ({ pk: CREATED, sk: scheduleId });
export const webhookKey = (webhookId: string): Key => ({ pk: "webhook", sk: webhookId });
export const onceKey = (scheduleId: string, hash: string): Key => ({ pk: `once:${scheduleId}`, sk: hash });
export const filesPartition = (scheduleId: string): string => `files:${scheduleId}`;
