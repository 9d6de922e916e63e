import type { Key, TableSpec } from "../../platform/tables.ts";

/** `pending`: it waits for its worker; `attached`: its documents are visible, and what follows from that is not done. */
export type ImportStatus = "pending" | "running" | "attached" | "succeeded" | "failed";

/** An import of a file. One that is answered at once is deleted with its end; a job is kept for some days. */
export interface StoredImport extends Key {
  readonly id: string;
  /** Id of the user who imports. */
  readonly user: string;
  /** Name of the file. */
  readonly name: string;
  /** Document that the imported one becomes a child of; null for a root. */
  readonly parent: string | null;
  readonly status: ImportStatus;
  /** Whether a worker does it. */
  readonly is_job: boolean;
  /** The first of the imported documents, of which all others are descendants. */
  readonly document: string;
  /** Number of documents of the current attempt; their ids are derived from the import, the attempt and their position. */
  readonly documents: number;
  readonly attempt: number;
  /** From 0 to 1. */
  readonly progress: number;
  /**
   * The worker that renews this time before it passes works on the import; after its end, when it is deleted.
   * Milliseconds since the epoch.
   */
  readonly lease_until: number;
  /** Documents whose attachments have been announced. */
  readonly announced: number;
  /** What the file contains that was not imported. */
  readonly skipped: readonly string[];
  readonly error?: string;
  /** ISO 8601. */
  readonly created_at: string;
}

export const importsTable: TableSpec<StoredImport> = { name: "document-imports", indexes: {} };
export const importKey = (id: string): Key => ({ pk: id, sk: "import" });

/** Blob key of the file of a job. */
export const importBlob = (id: string): string => `imports/${id}`;
