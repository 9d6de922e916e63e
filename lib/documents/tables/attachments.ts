import type { Key, TableSpec } from "../../platform/tables.ts";

/** `processing`: it waits to be scanned; `infected`: its bytes were deleted. */
export type AttachmentState = "processing" | "ready" | "infected";

/** A file that was uploaded to a document. Its bytes are a blob, and never change. */
export interface StoredAttachment extends Key {
  /** The document that it was uploaded to. */
  readonly document: string;
  /** The name that the file had when it was uploaded. */
  readonly name: string;
  /** Content type, recognized from its bytes. */
  readonly type: string;
  readonly bytes: number;
  readonly state: AttachmentState;
  /** Its type is dangerous to open, or not the one that its name promises. */
  readonly is_unsafe: boolean;
  /** Number of documents that contain it. */
  readonly documents: number;
  /** Id of the user who uploaded it; null if anonymous. */
  readonly owner: string | null;
  /** ISO 8601. */
  readonly created_at: string;
  /** What the scanner found in it. */
  readonly finding?: string;
}

/** By key: `<document>/attachments/<id>[-unsafe].<extension>`. */
export const attachmentsTable: TableSpec<StoredAttachment> = { name: "attachments", indexes: {} };
export const attachmentKey = (key: string): Key => ({ pk: key, sk: "attachment" });

/** A document contains an attachment: who may read the document may read the attachment. */
export interface ContainedAttachment extends Key {
  readonly attachment: string;
  readonly document: string;
  /**
   * Since when neither the content of the document nor a version of it has referenced the attachment, milliseconds.
   * Absent while one does.
   */
  readonly unreferenced_since?: number;
}

/** By document and attachment. */
export const documentAttachmentsTable: TableSpec<ContainedAttachment> = {
  name: "document-attachments",
  indexes: { documents: { pk: "attachment", sk: "document" } },
};
export const containedKey = (document: string, attachment: string): Key => ({ pk: document, sk: attachment });

/** The attachments that were uploaded to a document, or to all documents. */
export interface AttachmentUsage extends Key {
  readonly bytes: number;
}

export const attachmentUsageTable: TableSpec<AttachmentUsage> = { name: "attachment-usage", indexes: {} };
/** Of a document; of the installation if undefined. */
export const usageKey = (document: string | undefined): Key => ({
  pk: document ?? "installation",
  sk: "usage",
});

/** Blob key of an attachment: its path below the gateway. */
export const attachmentBlob = (key: string): string => `media/${key}`;
