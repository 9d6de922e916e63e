import { derivedId } from "../../platform/ids.ts";
import type { Key, TableSpec } from "../../platform/tables.ts";
import type { Role } from "../access/roles.ts";

/** A user's or team's role on a document. It also applies to all descendants. Reference 2.4. */
export interface StoredAccess extends Key {
  readonly id: string;
  readonly document: string;
  /** Either `user` or `team` is set. */
  readonly user: string | null;
  readonly team: string | null;
  readonly role: Role;
  readonly created_at: string;
  /** Incremented with each change, for optimistic locking. */
  readonly revision: number;
}

export const accessesTable: TableSpec<StoredAccess> = { name: "document-accesses", indexes: {} };

/** Deterministic id: a user or team has at most one access per document. */
export const accessId = (
  document: string,
  of: { readonly user: string } | { readonly team: string },
): string =>
  derivedId("document-access", document, ...("user" in of ? ["user", of.user] : ["team", of.team]));
export const accessKey = (document: string, id: string): Key => ({ pk: document, sk: id });

/** Partition of the accesses staged for a move, until they are copied to the document's own partition. */
export const stagedAccessesPartition = (document: string, moveId: string): string =>
  `${document}/pending-move/${moveId}`;

/** A user's relation to a document. One batch read returns it with the relations to the document's ancestors. */
export interface StoredRelation extends Key {
  readonly document: string;
  /** The role of the user's access, written in the same transaction. */
  readonly role?: Role;
  /** When that access was created. */
  readonly since?: string;
  /** The user has opened the document by its link. */
  readonly trace?: true;
  readonly favorite?: true;
  readonly masked?: true;
}

export const relationsTable: TableSpec<StoredRelation> = { name: "document-relations", indexes: {} };
export const relationKey = (user: string, document: string): Key => ({ pk: user, sk: document });
