import type { Key, TableSpec } from "../../platform/tables.ts";

/** Yjs updates that one write appended to a document's log. Immutable. */
export interface StoredUpdates extends Key {
  /** Yjs updates (version 1 encoding) in the order of their arrival; empty if `blob` is set. */
  readonly updates: readonly Uint8Array[];
  /** Key of the blob that holds a single update that is too large for an item. */
  readonly blob?: string;
  /** Size of the updates. */
  readonly bytes: number;
  /** Ids of their authors, each once; null for anonymous ones. */
  readonly authors: readonly (string | null)[];
  /** ISO 8601. */
  readonly at: string;
}

/** The update logs: one partition per document and generation, sorted by position. Positions begin at 1, without gaps. */
export const updatesTable: TableSpec<StoredUpdates> = { name: "document-updates", indexes: {} };

const POSITION_DIGITS = 12;

export const updatesPartition = (document: string, generation: number): string => `${document}/${generation}`;
export const positionKey = (position: number): string => String(position).padStart(POSITION_DIGITS, "0");
export const updatesKey = (document: string, generation: number, position: number): Key => ({
  pk: updatesPartition(document, generation),
  sk: positionKey(position),
});

/** Blob key of a large update. */
export const updateBlob = (document: string, id: string): string => `documents/${document}/updates/${id}`;
