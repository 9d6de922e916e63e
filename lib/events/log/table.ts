import type { Key, TableSpec } from "../../platform/tables.ts";

/** A trigger that an event matched when it was recorded. Dispatch starts exactly these. */
export interface Match {
  readonly workflow: string;
  readonly trigger: string;
  readonly revision: number;
  /** Id of the schedule, if it was created by a request and not declared in the workflow. */
  readonly schedule?: string;
  /** The trigger's type, if it is not an event trigger; its fire count is updated too. */
  readonly type?: "cron" | "watch" | "manual" | "webhook";
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

/** Partitions of the tail: one partition supports a thousand writes per second on AWS. */
export const TAIL_SHARDS = 4;

/**
 * The partition of a record's tail item: `tail` until the record is visible in the index, then `indexed` until it is
 * processed; `parked` items failed too often and wait for a redrive.
 */
export type TailState = "tail" | "indexed" | "parked";

export function tailKey(eventId: string, where: TailState = "tail"): Key {
  const shard = Number.parseInt(eventId.slice(-1), 16) % TAIL_SHARDS;
  return { pk: `${where}#${shard}`, sk: eventId };
}

export const tailPartitions = (where: TailState): string[] =>
  Array.from({ length: TAIL_SHARDS }, (_, shard) => `${where}#${shard}`);

/** Name of the ranked index over the log. */
export const EVENT_INDEX = "event-log";
