import type { Key, TableSpec } from "../../platform/tables.ts";

/** The awareness state of one client in a document, for other processes. */
export interface StoredAwareness extends Key {
  readonly clock: number;
  /** JSON of an object, or of null if the client has left. */
  readonly state: string;
  /** Hash of who sent it. */
  readonly owner: string;
  /** When it was written, milliseconds since the epoch. */
  readonly at: number;
  /** When it may be deleted, seconds since the epoch. */
  readonly expires_at: number;
}

/** Awareness states, one partition per document: only where processes share no memory. */
export const awarenessTable: TableSpec<StoredAwareness> = {
  name: "document-awareness",
  indexes: {},
  expires: "expires_at",
};

export const awarenessKey = (document: string, client: number): Key => ({
  pk: document,
  sk: String(client).padStart(16, "0"),
});
