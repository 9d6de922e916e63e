import { derivedId } from "../../platform/ids.ts";
import type { Key, TableSpec } from "../../platform/tables.ts";
import type { Role } from "../access/roles.ts";

/** A request for a role on a root. Reference 1.11. */
export interface StoredAccessRequest extends Key {
  readonly id: string;
  readonly document: string;
  readonly user: string;
  readonly role: Role;
  readonly created_at: string;
}

export const accessRequestsTable: TableSpec<StoredAccessRequest> = {
  name: "document-access-requests",
  indexes: {},
};

/** Deterministic id: a user has at most one request per document. */
export const accessRequestId = (document: string, user: string): string =>
  derivedId("document-access-request", document, user);
export const accessRequestKey = (document: string, id: string): Key => ({ pk: document, sk: id });
