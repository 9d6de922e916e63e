import type { Key, TableSpec } from "../../platform/tables.ts";
import type { Trigger } from "../schema/types.ts";

/** A trigger of a workflow, declared in its file or created by request: both are rows of one table. */
export interface StoredSchedule extends Key {
  readonly schedule_id: string;
  readonly workflow: string;
  /** Its name in the workflow's file; the schedule's own name if it was created by request. */
  readonly trigger: string;
  readonly type: Trigger["type"];
  readonly origin: "workflow" | "api";
  /** As declared; its `enabled` is the value in the file. */
  readonly spec: Trigger;
  /** Of a cron trigger; empty for others. */
  readonly expression: string;
  readonly timezone: string;
  readonly enabled: boolean;
  /** ISO 8601: the next slot; absent unless it is a cron trigger. */
  readonly next_run?: string;
  readonly last_run: string | null;
  readonly run_count: number;
  /** Target of each of its runs; data of the event takes precedence. */
  readonly target: string;
  readonly workspace: string;
  readonly params: Readonly<Record<string, string>>;
  /** Why it cannot fire, if known. */
  readonly error: string;
  /** ISO 8601: end of the period in which it starts nothing because it fired too often. */
  readonly breaker_open_until: string | null;
  readonly webhook_id?: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** `1` if it is an enabled cron trigger: the partition that the scheduler reads. */
  readonly due?: string;
  /** Sorts by creation time. */
  readonly listed_at: string;
}

export const schedulesTable: TableSpec<StoredSchedule> = {
  name: "schedules",
  indexes: { due: { pk: "due", sk: "next_run" } },
};

/** Names of workflows and triggers contain no colon. */
export const declaredId = (workflow: string, trigger: string): string => `sch_${workflow}:${trigger}`;
export const scheduleKey = (scheduleId: string): Key => ({ pk: scheduleId, sk: "schedule" });

/**
 * State of triggers besides their rows. By partition: `override`, a declared trigger that was enabled, disabled or
 * deleted by request; `made`, the schedules created by request; `webhook`, the trigger of each address; `once:<id>`,
 * idempotency keys and signatures that were used; `files:<id>`, files that a watch has seen; `root:<id>`, number of
 * runs that a root cause has started through others.
 */
export interface TriggerState extends Key {
  readonly schedule_id?: string;
  readonly enabled?: boolean;
  readonly deleted?: boolean;
  readonly workflow?: string;
  readonly spec?: Trigger;
  /** Of a file: modification time and size. */
  readonly stamp?: string;
  /** Of a file: the run that its last change started, and the number of runs that led to it. */
  readonly run_id?: string;
  readonly hop?: number;
  readonly root_cause?: string;
  /** Of a root cause: number of runs started through its own. */
  readonly runs?: number;
  /** `1` if the item expires, and its expiry time, ISO 8601. */
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
