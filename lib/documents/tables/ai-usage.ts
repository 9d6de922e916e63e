import type { Key, TableSpec } from "../../platform/tables.ts";

/** The requests for AI functions of a caller, or to a document. */
export interface StoredAiUsage extends Key {
  /** When they were made, oldest first, milliseconds since the epoch. */
  readonly times: readonly number[];
  readonly version: number;
  /** When the row may be deleted, seconds since the epoch. */
  readonly expires_at: number;
}

export const aiUsageTable: TableSpec<StoredAiUsage> = {
  name: "document-ai-usage",
  indexes: {},
  expires: "expires_at",
};

/** Of a document (`document ID`), a user (`user ID`) or an address (`address NETWORK`). */
export const aiUsageKey = (counted: string): Key => ({ pk: counted, sk: "usage" });
