import type { Key, TableSpec } from "../../platform/tables.ts";

/** A trigger that an event matched when it was recorded: what dispatch starts, no more and no less. */
export interface Match {
  readonly workflow: string;
  readonly trigger: string;
  readonly revision: number;
}

/** An event as it lies in the log. Seed: workflow 2.3; the rest is Weft's own. */
export interface StoredEvent extends Key {
  readonly event_id: string;
  /** Set by the indexer, in order of arrival. */
  readonly number?: number;
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
  /** `1` while unprocessed and not dead-lettered: what the sweep looks at. */
  readonly pending?: string;
  /** ISO 8601: when the sweep puts it on the bus again. */
  readonly resend_at?: string;
  readonly resends?: number;
}

/** The last number given, under a key of its own. */
export interface NumberCounter extends Key {
  readonly last: number;
}

const LOG_PARTITION = "log";

export const eventLogTable: TableSpec<StoredEvent> = {
  name: "event-log",
  indexes: { pending: { pk: "pending", sk: "resend_at" } },
};

export const eventNumbersTable: TableSpec<NumberCounter> = { name: "event-numbers", indexes: {} };

export const eventKey = (eventId: string): Key => ({ pk: LOG_PARTITION, sk: eventId });
export const NUMBER_COUNTER_KEY: Key = { pk: "event-log", sk: "last" };
