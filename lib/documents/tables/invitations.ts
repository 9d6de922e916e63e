import type { Key, TableSpec, Write } from "../../platform/tables.ts";
import type { Role } from "../access/roles.ts";
import { emailPartition } from "./users.ts";

/** A role for the user of an email address who has no account yet. Reference 1.10. */
export interface StoredInvitation extends Key {
  readonly id: string;
  readonly document: string;
  /** In lower case. */
  readonly email: string;
  readonly role: Role;
  /** Id of the inviting user; null if it was the service. */
  readonly issuer: string | null;
  readonly created_at: string;
  readonly revision: number;
}

export const invitationsTable: TableSpec<StoredInvitation> = { name: "document-invitations", indexes: {} };
export const invitationKey = (document: string, id: string): Key => ({ pk: document, sk: id });

/** Index of invitations by email address: at most one per document. */
export interface InvitedItem extends Key {
  readonly id: string;
}

export const invitedTable: TableSpec<InvitedItem> = { name: "document-invited", indexes: {} };
export const invitedPartition = (email: string): string => emailPartition(email);
export const invitedKey = (email: string, document: string): Key => ({
  pk: invitedPartition(email),
  sk: document,
});

/** How long an invitation can be accepted, milliseconds: a week. Reference 1.10. */
export const INVITATION_VALIDITY_DURATION_MS = 604_800_000;

export const isExpired = ({ created_at }: Pick<StoredInvitation, "created_at">, now: number): boolean =>
  now > Date.parse(created_at) + INVITATION_VALIDITY_DURATION_MS;

/** Plans the removal of an invitation. The writes fail if it has changed. */
export const planInvitationRemoval = ({ pk, sk, email, document, revision }: StoredInvitation): Write[] => [
  { op: "delete", table: invitationsTable, key: { pk, sk }, when: [["revision", "=", revision]] },
  { op: "delete", table: invitedTable, key: invitedKey(email, document) },
];
