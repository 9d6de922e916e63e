import type { Key, TableSpec, Tables } from "../../platform/tables.ts";

/** A trigger that an event matched when it was recorded. Dispatch starts exactly these. */
export interface Match {
  readonly workflow: string;
  readonly trigger: string;
  readonly revision: number;
  /** Id of the schedule, if it was created by a request and not declared in the workflow. */
  readonly schedule?: string;
  /** The trigger's type, if it is not an event trigger; its fire count is updated too. */
  readonly type?: "cron" | "watch" | "manual" | "webhook";
  /** The key to claim with the run, if it was not claimed with the event: of two events, the one that claims it fires. */
  readonly claim?: MatchClaim;
}

/** A key of an event for a trigger, and for how long it stays claimed, milliseconds. */
export interface MatchClaim extends Key {
  readonly windowMs: number;
}

/** An event in the log. Seed: workflow 2.3; further fields are Weft's own. */
export interface StoredEvent extends Key {
  readonly event_id: string;
  readonly topic: string;
  readonly name: string;
  readonly source: string;
  readonly data_type: string;
  /** JSON text; missing if it is stored as a blob. */
  readonly data?: string;
  /** Key of the blob that holds data too large for an item. */
  readonly data_blob?: string;
  readonly workspace: string;
  readonly run_id: string;
  readonly workflow_name: string;
  readonly processed: boolean;
  /** ISO 8601. */
  readonly processed_at: string | null;
  readonly error: string;
  /** It could not be processed, and is not sent again until it is redriven. */
  readonly failed?: true;
  /** ISO 8601. */
  readonly created_at: string;
  readonly matches: readonly Match[];
  /** Number of Weft's own events that led to this one. */
  readonly hop: number;
  /** Id of the external event or run that led to it, if known; otherwise its own id. */
  readonly root_cause?: string;
}

export const eventLogTable: TableSpec<StoredEvent> = { name: "event-log", indexes: {} };

export const eventKey = (eventId: string): Key => ({ pk: eventId, sk: "event" });

/**
 * Pending work for a record: indexing and dispatch. It is written with the record and deleted when the index contains
 * the record in its final form, so that lost messages are detected.
 */
export interface TailItem extends Key {
  /** The record's number in the index, if it is known to be indexed. */
  readonly number?: number;
  /** ISO 8601: when the sweep publishes the event again. */
  readonly resend_at: string;
  readonly resends: number;
  /**
   * The records of this item, if several were recorded together and only have to be indexed. The item's key is the id
   * of the first one.
   */
  readonly ids?: readonly string[];
  /** Number of remaining records: the condition of the next change. */
  readonly left?: number;
}

/** The ids of a tail item's records. */
export const tailIds = ({ sk, ids }: TailItem): readonly string[] => ids ?? [sk];

export const eventTailTable: TableSpec<TailItem> = { name: "event-tail", indexes: {} };

/** Partitions of the tail. Several, so that readers of one do not wait for writers of another. */
const TAIL_SHARDS = 4;
/** The same where partitions have limits: one accepts a thousand writes per second, an event needs six. */
const LIMITED_TAIL_SHARDS = 64;

/** Number of partitions of each state of the tail. */
export const tailShards = ({ partitionLimits }: Pick<Tables, "partitionLimits">): number =>
  partitionLimits === true ? LIMITED_TAIL_SHARDS : TAIL_SHARDS;

/**
 * The partition of a record's tail item: `tail` until the record is visible in the index, then `indexed` until it is
 * processed; `parked` items failed too often and wait for a redrive.
 */
export type TailState = "tail" | "indexed" | "parked";

/** Some of the events that were accepted together and are not recorded yet. */
export interface StagedEvents extends Key {
  /** ISO 8601: when the sweep asks for this part to be recorded. */
  readonly resend_at: string;
  /** Number of its last events that are not recorded yet: the condition of its next change. */
  readonly left: number;
  /** JSON text of all drafts of the part; missing if it is stored as a blob. */
  readonly drafts?: string;
  /** Key of the blob that holds drafts too large for an item. */
  readonly drafts_blob?: string;
}

/** Parts of the events that were accepted together: in the table of the tail, in partitions of their own. */
export const stagedEventsTable: TableSpec<StagedEvents> = { name: "event-tail", indexes: {} };

export function tailKey(
  eventId: string,
  where: TailState | "staged" = "tail",
  shards: number = TAIL_SHARDS,
): Key {
  const shard = Number.parseInt(eventId.slice(-2), 16) % shards;
  return { pk: `${where}#${shard}`, sk: eventId };
}

export const tailPartitions = (where: TailState | "staged", shards: number = TAIL_SHARDS): string[] =>
  Array.from({ length: shards }, (_, shard) => `${where}#${shard}`);

/** Name of the ranked index over the log. */
export const EVENT_INDEX = "event-log";
