import type { Key, TableSpec } from "../../platform/tables.ts";

/** A person. Reference 2.4. */
export interface StoredUser extends Key {
  readonly id: string;
  /** What an identity provider calls them; null for who never came by one. */
  readonly sub: string | null;
  readonly email: string | null;
  readonly full_name: string | null;
  readonly short_name: string | null;
  readonly language: string | null;
  readonly is_active: boolean;
  readonly is_first_connection: boolean;
  /** Nobody has looked yet what their address is invited to. */
  readonly invitations_pending?: true;
  readonly created_at: string;
  readonly revision: number;
}

export const usersTable: TableSpec<StoredUser> = { name: "users", indexes: {} };
export const userKey = (id: string): Key => ({ pk: id, sk: "user" });

/** How a person is found: one has a `sub`, several may have the same address. */
export interface UserIdentity extends Key {
  readonly id: string;
}

export const userIdentitiesTable: TableSpec<UserIdentity> = { name: "user-identities", indexes: {} };
export const subKey = (sub: string): Key => ({ pk: `sub:${sub}`, sk: "user" });
/**
 * An address as it is compared: without regard to the case of A to Z. Other letters stay as they are, since some become
 * ASCII letters in lower case (the Kelvin sign becomes k) and would open the account of somebody else.
 */
export const normalizeEmail = (email: string): string =>
  email.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
export const emailPartition = (email: string): string => `email:${normalizeEmail(email)}`;
export const emailKey = (email: string, id: string): Key => ({ pk: emailPartition(email), sk: id });

/** What a person is found by in a search. It is small: all of them are read together. */
export interface DirectoryEntry extends Key {
  readonly email?: string | null;
  readonly full_name?: string | null;
  /** Of the item that moves with each change of an entry. */
  readonly version?: number;
}

export const userDirectoryTable: TableSpec<DirectoryEntry> = { name: "user-directory", indexes: {} };
export const DIRECTORY = "users";
export const directoryKey = (id: string): Key => ({ pk: DIRECTORY, sk: id });
export const DIRECTORY_VERSION: Key = { pk: "version", sk: "version" };

/** Services that a token opens. */
export const SCOPES = ["automation", "documents"] as const;
export type Scope = (typeof SCOPES)[number];

/** An access token by its hash: what it opens, and whose it is. The token itself is kept nowhere. */
export interface StoredToken extends Key {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly created_at: string;
  /** Null: it does not end by itself. */
  readonly expires_at: string | null;
}

/** A token by its id, so that it can be listed and taken back. */
export interface TokenEntry extends Key {
  readonly hash: string;
}

export const accessTokensTable: TableSpec<StoredToken> = { name: "access-tokens", indexes: {} };
export const tokenKey = (hash: string): Key => ({ pk: hash, sk: "token" });
export const tokenEntriesTable: TableSpec<TokenEntry> = { name: "access-token-entries", indexes: {} };
export const TOKEN_ENTRIES = "tokens";
