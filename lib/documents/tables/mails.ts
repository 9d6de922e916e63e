import type { Key, TableSpec } from "../../platform/tables.ts";
import type { Role } from "../access/roles.ts";

/**
 * What mails are about: a document was shared, with a user or with an address that is nobody's; or somebody asks for it;
 * or a server made it for them.
 */
export type MailKind = "shared" | "invited" | "asked" | "created";

/** A mail that is to go out: written along with what it tells of, and gone when it was sent. */
export interface StoredMail extends Key {
  readonly id: string;
  readonly kind: MailKind;
  /** One address. */
  readonly to: string;
  /** Of the reader, as users have it: `fr-fr`. */
  readonly language: string | null;
  /** Whoever shared or asked, with their address. */
  readonly sender: string;
  readonly document: string;
  readonly title: string | null;
  readonly role: Role;
  /** In place of the usual words. */
  readonly subject?: string;
  readonly message?: string;
  readonly created_at: string;
  /** How often it was tried before. */
  readonly attempts: number;
}

export const mailsTable: TableSpec<StoredMail> = { name: "document-mails", indexes: {} };

/** All that wait are one partition, in the order in which they are due. */
export const QUEUED_MAILS = "waiting";
export const mailKey = (dueAt: string, id: string): Key => ({ pk: QUEUED_MAILS, sk: `${dueAt}/${id}` });
