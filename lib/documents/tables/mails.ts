import type { Key, TableSpec } from "../../platform/tables.ts";
import type { Role } from "../access/roles.ts";

/**
 * Why an email is sent: a document was shared with a user, an address was invited, a user requested access, or a
 * server created a document for somebody.
 */
export type MailKind = "shared" | "invited" | "asked" | "created";

/** A queued email: written in the transaction it reports, deleted once sent. */
export interface StoredMail extends Key {
  readonly id: string;
  readonly kind: MailKind;
  /** The recipient's address. */
  readonly to: string;
  /** Id of the recipient; absent if the address has been invited, or was the only thing known. */
  readonly user?: string;
  /** The recipient's language, such as `fr-fr`. */
  readonly language: string | null;
  /** Name and address of the user who shared or requested. */
  readonly sender: string;
  readonly document: string;
  readonly title: string | null;
  readonly role: Role;
  /** Replaces the default text. */
  readonly subject?: string;
  readonly message?: string;
  readonly created_at: string;
  /** Number of earlier attempts. */
  readonly attempts: number;
}

/** A queued email with notifications: they are read when it is sent. */
export interface QueuedDigest extends Key {
  readonly id: string;
  readonly kind: "digest";
  /** Id of the recipient. */
  readonly user: string;
  readonly digest: string;
  readonly created_at: string;
  /** Number of earlier attempts. */
  readonly attempts: number;
}

export type QueuedMail = StoredMail | QueuedDigest;

export const mailsTable: TableSpec<QueuedMail> = { name: "document-mails", indexes: {} };

/** All queued emails are one partition, sorted by due time. */
export const QUEUED_MAILS = "waiting";
export const mailKey = (dueAt: string, id: string): Key => ({ pk: QUEUED_MAILS, sk: `${dueAt}/${id}` });
