import { derivedId } from "../../platform/ids.ts";
import type { Key, TableSpec } from "../../platform/tables.ts";
import type { Role } from "../access/roles.ts";

/** Somebody asks for a role on a root. Reference 1.11. */
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

/** The same for the same user on the same document: there is one at most. */
export const accessRequestId = (document: string, user: string): string =>
  derivedId("document-access-request", document, user);
export const accessRequestKey = (document: string, id: string): Key => ({ pk: document, sk: id });
