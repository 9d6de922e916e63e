import type { Key, TableSpec } from "../../platform/tables.ts";

/** An export that takes longer than a request. */
export interface StoredExport extends Key {
  readonly id: string;
  /** Id of the user who may read it. */
  readonly user: string;
  /** The document, or the root of the exported tree; null for all documents that the user owns, and their data. */
  readonly document: string | null;
  /** The `export_format` of a single document, and whether it has comments; missing for a zip. */
  readonly format?: string;
  readonly comments?: boolean;
  readonly status: "waiting" | "running" | "done" | "failed";
  /** Documents that were written, and all of them. */
  readonly done: number;
  readonly total: number;
  /** Links in the exported documents begin with it. */
  readonly base_url: string;
  /** The link to the file contains it. */
  readonly secret: string;
  /** File name. */
  readonly name: string;
  /** Size of the file, when it is done. */
  readonly bytes?: number;
  /** Why it failed, for the user. */
  readonly error?: string;
  /** How often it was started. */
  readonly attempts: number;
  /** ISO 8601. */
  readonly created_at: string;
  readonly expires_at: string;
  /** `expires_at` in seconds since the epoch. */
  readonly expires: number;
}

export const exportsTable: TableSpec<StoredExport> = {
  name: "document-exports",
  indexes: { users: { pk: "user", sk: "created_at" } },
  expires: "expires",
};
export const exportKey = (id: string): Key => ({ pk: id, sk: "export" });
/** Blob of the exported file. */
export const exportBlob = (id: string): string => `exports/${id}`;
