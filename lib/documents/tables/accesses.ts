import { derivedId } from "../../platform/ids.ts";
import type { Key, TableSpec } from "../../platform/tables.ts";
import type { Role } from "../access/roles.ts";

/** Somebody's own role on a document; rights are inherited from it downward. Reference 2.4. */
export interface StoredAccess extends Key {
  readonly id: string;
  readonly document: string;
  /** One of these two. */
  readonly user: string | null;
  readonly team: string | null;
  readonly role: Role;
  readonly created_at: string;
  /** Moves with each change: the condition of the next one. */
  readonly revision: number;
}

export const accessesTable: TableSpec<StoredAccess> = { name: "document-accesses", indexes: {} };

/** The same for the same person or team on the same document: there is one at most. */
export const accessId = (
  document: string,
  of: { readonly user: string } | { readonly team: string },
): string =>
  derivedId("document-access", document, ...("user" in of ? ["user", of.user] : ["team", of.team]));
export const accessKey = (document: string, id: string): Key => ({ pk: document, sk: id });

/** Accesses that a document has after a move count from there until they are moved to the document's own partition. */
export const stagedAccessesPartition = (document: string, moveId: string): string =>
  `${document}/pending-move/${moveId}`;

/** What a document is to a person: looked up with those of its ancestors, in one read. */
export interface StoredRelation extends Key {
  readonly document: string;
  /** That of the person's access, which is written with it. */
  readonly role?: Role;
  /** Since when there is that access. */
  readonly since?: string;
  /** The person has opened the document by its link. */
  readonly trace?: true;
  readonly favorite?: true;
  readonly masked?: true;
}

export const relationsTable: TableSpec<StoredRelation> = { name: "document-relations", indexes: {} };
export const relationKey = (user: string, document: string): Key => ({ pk: user, sk: document });
