import type { Key, TableSpec } from "../../platform/tables.ts";
import type { Scope } from "./users.ts";

/** A link that signs its user in once, by the hash of its token. The token itself is not stored. */
export interface StoredLoginLink extends Key {
  readonly user: string;
  /** Services that the session gives access to. */
  readonly scopes: readonly Scope[];
  /** Null for the link of a start, which is valid until it is used or the server starts again. */
  readonly expires_at: string | null;
  /** Whether the page of the link asks before it signs in. */
  readonly asks: boolean;
}

export const loginLinksTable: TableSpec<StoredLoginLink> = { name: "document-login-links", indexes: {} };

/** There are few links, so all are one partition. */
export const LOGIN_LINKS = "links";
export const loginLinkKey = (tokenHash: string): Key => ({ pk: LOGIN_LINKS, sk: tokenHash });
