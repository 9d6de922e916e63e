import type { Key, TableSpec } from "../../platform/tables.ts";

/** A person. Reference 2.4. */
export interface StoredUser extends Key {
  readonly id: string;
  /** The identity provider's id; null if the user never signed in through one. */
  readonly sub: string | null;
  readonly email: string | null;
  readonly full_name: string | null;
  readonly short_name: string | null;
  readonly language: string | null;
  readonly is_active: boolean;
  readonly is_first_connection: boolean;
  /** Invitations to the user's email address have not been accepted yet. */
  readonly invitations_pending?: true;
  readonly created_at: string;
  readonly revision: number;
}

export const usersTable: TableSpec<StoredUser> = { name: "users", indexes: {} };
export const userKey = (id: string): Key => ({ pk: id, sk: "user" });

/** Finds users by `sub` (unique) or by email address (several may share it). */
export interface UserIdentity extends Key {
  readonly id: string;
}

export const userIdentitiesTable: TableSpec<UserIdentity> = { name: "user-identities", indexes: {} };
export const subKey = (sub: string): Key => ({ pk: `sub:${sub}`, sk: "user" });
/**
 * Normalizes an email address for comparison: lower-cases A to Z only. Other letters can become ASCII letters in
 * lower case (the Kelvin sign becomes k) and would match another user's account.
 */
export const normalizeEmail = (email: string): string =>
  email.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
export const emailPartition = (email: string): string => `email:${normalizeEmail(email)}`;
export const emailKey = (email: string, id: string): Key => ({ pk: emailPartition(email), sk: id });

/** Search fields of a user. The entries are small, so all are read together. */
export interface DirectoryEntry extends Key {
  readonly email?: string | null;
  readonly full_name?: string | null;
  /** Set on the version item, which is incremented with each change of an entry. */
  readonly version?: number;
}

export const userDirectoryTable: TableSpec<DirectoryEntry> = { name: "user-directory", indexes: {} };
export const DIRECTORY = "users";
export const directoryKey = (id: string): Key => ({ pk: DIRECTORY, sk: id });
export const DIRECTORY_VERSION: Key = { pk: "version", sk: "version" };

/** Services that a token can give access to. */
export const SCOPES = ["automation", "documents"] as const;
export type Scope = (typeof SCOPES)[number];

/** An access token by its hash. The token itself is not stored. */
export interface StoredToken extends Key {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly created_at: string;
  /** Null if it does not expire. */
  readonly expires_at: string | null;
}

/** An index entry by token id, for listing and revocation. */
export interface TokenEntry extends Key {
  readonly hash: string;
}

export const accessTokensTable: TableSpec<StoredToken> = { name: "access-tokens", indexes: {} };
export const tokenKey = (hash: string): Key => ({ pk: hash, sk: "token" });
export const tokenEntriesTable: TableSpec<TokenEntry> = { name: "access-token-entries", indexes: {} };
export const TOKEN_ENTRIES = "tokens";
