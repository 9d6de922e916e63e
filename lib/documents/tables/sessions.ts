import { hash } from "node:crypto";
import type { Key, TableSpec } from "../../platform/tables.ts";
import type { Scope } from "./users.ts";

/** A browser session by the hash of its secret id, which only the cookie contains. */
export interface StoredSession extends Key {
  /** Identifies the session in lists. */
  readonly id: string;
  readonly user: string;
  readonly scopes: readonly Scope[];
  readonly created_at: string;
  /** Written at most once a minute. */
  readonly last_used_at: string;
  /** When it ends unless it is used again. */
  readonly expires_at: string;
  /** When it ends in any case. */
  readonly ends_at: string;
  /** Shortened. */
  readonly user_agent: string;
  /** Partitions of its entries besides the user's. */
  readonly partitions: readonly string[];
  /** Constant: the partition of the index. */
  readonly expires: typeof EXPIRES;
}

export const EXPIRES = "1";

export const sessionsTable: TableSpec<StoredSession> = {
  name: "document-sessions",
  indexes: { expires: { pk: "expires", sk: "expires_at" } },
};
export const sessionKey = (idHash: string): Key => ({ pk: idHash, sk: "session" });

/** The ID token of the login that began a session. It is a row of its own: only logout reads it. */
export interface StoredIdToken extends Key {
  readonly token: string;
}

export const idTokensTable: TableSpec<StoredIdToken> = { name: "document-sessions", indexes: {} };
export const idTokenKey = (idHash: string): Key => ({ pk: idHash, sk: "id-token" });

/** Finds sessions by their user, or by the session or subject of an OIDC provider. */
export interface SessionEntry extends Key {
  readonly hash: string;
}

export const sessionEntriesTable: TableSpec<SessionEntry> = { name: "document-session-entries", indexes: {} };
export const sessionsOfUser = (user: string): string => `user:${user}`;
/** Hashed, because an issuer's values can be longer than keys. */
export const sessionsOfProvider = (kind: "sid" | "sub", issuer: string, value: string): string =>
  `${kind}:${hash("sha256", JSON.stringify([issuer, value]), "hex")}`;
