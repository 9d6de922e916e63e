import type { Attribute, Key, TableSpec } from "../../platform/tables.ts";
import type { HistoryEntry, RunState, RunStatus } from "../engine/history.ts";
import type { PinnedModule } from "../engine/program.ts";
import type { WorkflowKind } from "../schema/types.ts";

export type TriggerType = "cron" | "event" | "watch" | "manual" | "api" | "webhook";

/** A run and the state of its conductor. Everything but `state` changes with it, in one transaction. */
export interface StoredRun extends Key {
  readonly run_id: string;
  readonly number: number;
  readonly workflow_name: string;
  readonly workflow_kind: WorkflowKind;
  readonly workflow_revision: number;
  readonly modules: readonly PinnedModule[];
  readonly target: string;
  readonly params: Readonly<Record<string, string>>;
  readonly status: RunStatus;
  readonly workspace: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly error_message: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly trigger_type: TriggerType;
  readonly trigger_name: string;
  readonly event_id: string;
  readonly run_group_id: string;
  readonly total_steps: number;
  readonly completed_steps: number;
  readonly priority: string;
  readonly hop: number;
  /** Id of the event or run from outside that led to it; absent in runs of earlier releases. */
  readonly root_cause?: string;
  readonly state: RunState;
  /** Since when the steps under way are, by their keys; not of items of a foreach. */
  readonly begun: Readonly<Record<string, string>>;
  /** Moves with every change: the condition of the next one. */
  readonly version: number;
  /** `1` while the run is not over, and when it last moved on: what the sweep looks at. */
  readonly active?: string;
  readonly moved_at?: string;
  /** Minutes that it may take from its start. */
  readonly timeout?: number;
  /** Its place among those that run at once, while it runs. */
  readonly slot?: number;
  /** Where it waits for its turn, while it does. */
  readonly queued?: Key;
  /** How many runs of its job may go at once, where that is fewer than there are. */
  readonly job_width?: number;
  /** No log of it is kept. */
  readonly unlogged?: true;
}

export const runsTable: TableSpec<StoredRun> = {
  name: "runs",
  indexes: { active: { pk: "active", sk: "moved_at" } },
};

export const rootCauseOf = ({
  root_cause,
  event_id,
  run_id,
}: Pick<StoredRun, "root_cause" | "event_id" | "run_id">): string => root_cause ?? (event_id || run_id);

/** A step of a run that is done; those under way are in the run's state. */
export interface StoredStep extends Key {
  readonly id: string;
  readonly key: string;
  readonly step_name: string;
  readonly step_type: string;
  readonly module: string;
  readonly status: "running" | "completed" | "failed" | "skipped" | "cancelled";
  /** Of the request that it answers. */
  readonly dispatch: number;
  /** How often an executor took it. */
  readonly attempt: number;
  readonly command: string;
  readonly output: string;
  readonly output_truncated: boolean;
  readonly error_message: string;
  readonly exports: Readonly<Record<string, Attribute>>;
  readonly duration_ms: number;
  readonly log_file: string;
  readonly started_at: string;
  readonly completed_at: string | null;
  readonly created_at: string;
}

export const stepsTable: TableSpec<StoredStep> = { name: "steps", indexes: {} };

/** The entries that one input made; the sort key is the number of the first. */
export interface StoredHistory extends Key {
  readonly at: string;
  readonly entries: readonly HistoryEntry[];
}

export const historyTable: TableSpec<StoredHistory> = { name: "run-history", indexes: {} };

/** What else a run is found by: its number, and its job with its place in it. */
export interface StoredRunName extends Key {
  readonly run_id: string;
}

export const runNamesTable: TableSpec<StoredRunName> = { name: "run-names", indexes: {} };

/** Runs that wait for their turn, first comes first; and the places of those that run. */
export interface StoredTurn extends Key {
  readonly run_id: string;
}

export const runQueueTable: TableSpec<StoredTurn> = { name: "run-queue", indexes: {} };

export const RUN_SK = "run";

export const runKey = (runId: string): Key => ({ pk: runId, sk: RUN_SK });

export const stepKey = (runId: string, key: string): Key => ({ pk: runId, sk: key });

export const historyKey = (runId: string, first: number): Key => ({
  pk: runId,
  sk: String(first).padStart(9, "0"),
});

export const numberKey = (number: number): Key => ({ pk: `number#${number}`, sk: RUN_SK });

export const jobPartition = (jobId: string): string => `job#${jobId}`;

export const memberKey = (jobId: string, index: number): Key => ({
  pk: jobPartition(jobId),
  sk: String(index).padStart(6, "0"),
});
