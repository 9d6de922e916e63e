import type { Attribute, Key, TableSpec } from "../../platform/tables.ts";
import type { HistoryEntry, RunState, RunStatus } from "../engine/history.ts";
import type { PinnedModule } from "../engine/program.ts";
import type { WorkflowKind } from "../schema/types.ts";

export type TriggerType = "cron" | "event" | "watch" | "manual" | "api" | "webhook";

/** The run that a run was made from. */
export interface RunSource {
  readonly run_id: string;
  readonly action: "duplicate" | "rerun" | "resume" | "replay";
  /** Key of the step that a replay begins with. */
  readonly step?: string;
}

/** A run and the state of its conductor. All fields change together with `state`, in one transaction. */
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
  /** Id of the event or run from outside that caused it; absent in runs of earlier releases. */
  readonly root_cause?: string;
  /** Absent if the run was not made from another one, and in runs of earlier releases. */
  readonly source?: RunSource;
  /** The run whose event or script started it. */
  readonly parent?: string;
  /** The document whose event started it. */
  readonly document?: string;
  readonly state: RunState;
  /** Start times of the running steps, by step key; without items of a foreach. */
  readonly begun: Readonly<Record<string, string>>;
  /** Incremented with every change; the condition of the next write. */
  readonly version: number;
  /** A partition of the index until the run is finished, and about the time of its last change; the sweep queries both. */
  readonly unfinished?: string;
  /** `1` in unfinished runs of earlier releases, in place of `unfinished`. */
  readonly active?: string;
  readonly moved_at?: string;
  /** Maximum duration from the start, minutes. */
  readonly timeout?: number;
  /** The slot of a running run. */
  readonly slot?: number;
  /** The queue position of a waiting run. */
  readonly queued?: Key;
  /** How many runs of its job may run concurrently; absent if all may. */
  readonly job_width?: number;
  /** The run has no log. */
  readonly unlogged?: true;
}

export const runsTable: TableSpec<StoredRun> = {
  name: "runs",
  indexes: {
    unfinished: { pk: "unfinished", sk: "moved_at", keysOnly: true },
    // Of runs of earlier releases: CloudFormation deletes no index in the update that adds one.
    active: { pk: "active", sk: "moved_at" },
  },
};

/** The partitions of unfinished runs: each change of a run writes one. */
export const UNFINISHED = [..."0123456789abcdef"];

/** The partition of an unfinished run. Ids end with a hexadecimal digit. */
export const unfinishedPartition = (runId: string): string => runId.slice(-1);

/** Whether the sweep still finds a run. */
export const isUnfinished = ({ unfinished, active }: Pick<StoredRun, "unfinished" | "active">): boolean =>
  unfinished !== undefined || active !== undefined;

export const rootCauseOf = ({
  root_cause,
  event_id,
  run_id,
}: Pick<StoredRun, "root_cause" | "event_id" | "run_id">): string => root_cause ?? (event_id || run_id);

/** A finished step of a run; running steps are in the run's state. */
export interface StoredStep extends Key {
  readonly id: string;
  readonly key: string;
  readonly step_name: string;
  readonly step_type: string;
  readonly module: string;
  readonly status: "running" | "completed" | "failed" | "skipped" | "cancelled";
  /** Number of the request that it answers. */
  readonly dispatch: number;
  /** Number of times that an executor claimed it. */
  readonly attempt: number;
  readonly command: string;
  readonly output: string;
  readonly output_truncated: boolean;
  readonly error_message: string;
  readonly exports: Readonly<Record<string, Attribute>>;
  /** Variables that the step added to its commands' environment; absent in runs of earlier releases. */
  readonly environment?: Readonly<Record<string, Attribute>>;
  readonly duration_ms: number;
  readonly log_file: string;
  readonly started_at: string;
  readonly completed_at: string | null;
  readonly created_at: string;
}

export const stepsTable: TableSpec<StoredStep> = { name: "steps", indexes: {} };

/** The entries of one input; the sort key is the number of the first entry. */
export interface StoredHistory extends Key {
  readonly at: string;
  readonly entries: readonly HistoryEntry[];
}

export const historyTable: TableSpec<StoredHistory> = { name: "run-history", indexes: {} };

/** Items by which a run is found: its number, its position in its job, and its links to runs and documents. */
export interface StoredRunName extends Key {
  readonly run_id: string;
}

export const runNamesTable: TableSpec<StoredRunName> = { name: "run-names", indexes: {} };

/** Queue positions of waiting runs, in order, and the slots of running ones. */
export interface StoredQueuePosition extends Key {
  readonly run_id: string;
}

export const runQueueTable: TableSpec<StoredQueuePosition> = { name: "run-queue", indexes: {} };

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
