import type { Key, TableSpec, Write } from "../../platform/tables.ts";
import type { Role } from "../access/roles.ts";
import { emailPartition } from "./users.ts";

/** A role that waits for whoever comes with an address. Reference 1.10. */
export interface StoredInvitation extends Key {
  readonly id: string;
  readonly document: string;
  /** In lower case. */
  readonly email: string;
  readonly role: Role;
  /** Who invited; null where it was the service. */
  readonly issuer: string | null;
  readonly created_at: string;
  readonly revision: number;
}

export const invitationsTable: TableSpec<StoredInvitation> = { name: "document-invitations", indexes: {} };
export const invitationKey = (document: string, id: string): Key => ({ pk: document, sk: id });

/** An invitation by its address: there is one at most for a document, and whoever comes finds all of theirs. */
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

/** What takes an invitation away: it does not hold where it has changed. */
export const planInvitationRemoval = ({ pk, sk, email, document, revision }: StoredInvitation): Write[] => [
  { op: "delete", table: invitationsTable, key: { pk, sk }, when: [["revision", "=", revision]] },
  { op: "delete", table: invitedTable, key: invitedKey(email, document) },
];
