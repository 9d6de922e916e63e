import type { Key, TableSpec } from "../../platform/tables.ts";

/** A trigger that an event matched when it was recorded: what dispatch starts, no more and no less. */
export interface Match {
  readonly workflow: string;
  readonly trigger: string;
  readonly revision: number;
  /** Made by request, not declared in the workflow: the schedule that it is. */
  readonly schedule?: string;
  /** What fired it, where that was no event; whoever fires it so counts it too. */
  readonly type?: "cron" | "watch" | "manual" | "webhook";
}

/** An event as it lies in the log. Seed: workflow 2.3; the rest is Weft's own. */
export interface StoredEvent extends Key {
  readonly event_id: string;
  readonly topic: string;
  readonly name: string;
  readonly source: string;
  readonly data_type: string;
  /** JSON text; absent where it lies in a blob. */
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
  /** How many events of Weft's own led to this one. */
  readonly hop: number;
  /** Id of the event or run from outside that led to it, where it is known; its own otherwise. */
  readonly root_cause?: string;
}

export const eventLogTable: TableSpec<StoredEvent> = { name: "event-log", indexes: {} };

export const eventKey = (eventId: string): Key => ({ pk: eventId, sk: "event" });

/**
 * What is still to be done for a record: to be indexed, to be dispatched. It is written with the record and
 * goes when the index holds the record in its final form, so nothing that is lost in between stays unseen.
 */
export interface TailItem extends Key {
  /** Of the record in the index, where it is known to be in there. */
  readonly number?: number;
  /** ISO 8601: when the sweep puts the event on the bus again. */
  readonly resend_at: string;
  readonly resends: number;
  /**
   * The records that it stands for, where they were recorded together and have but to be indexed; it is named after
   * the first that there was.
   */
  readonly ids?: readonly string[];
  /** How many of those there are: the condition of the next change. */
  readonly left?: number;
}

/** The records that an item of the tail stands for. */
export const tailIds = ({ sk, ids }: TailItem): readonly string[] => ids ?? [sk];

export const eventTailTable: TableSpec<TailItem> = { name: "event-tail", indexes: {} };

/** Partitions that the tail is spread over: one takes a thousand writes a second in AWS. */
export const TAIL_SHARDS = 4;

/**
 * Where a record's tail item lies: in the `tail` until it is in the index for all to see, then among the `indexed`
 * ones until it is processed; `parked` ones were given up until somebody redrives them.
 */
export type TailPlace = "tail" | "indexed" | "parked";

export function tailKey(eventId: string, where: TailPlace = "tail"): Key {
  const shard = Number.parseInt(eventId.slice(-1), 16) % TAIL_SHARDS;
  return { pk: `${where}#${shard}`, sk: eventId };
}

export const tailPartitions = (where: TailPlace): string[] =>
  Array.from({ length: TAIL_SHARDS }, (_, shard) => `${where}#${shard}`);

/** Name of the ranked index over the log. */
export const EVENT_INDEX = "event-log";
