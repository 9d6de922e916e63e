import { hash } from "node:crypto";
import type { Ports } from "../../platform/ports.ts";
import {
  accessTokensTable,
  type Scope,
  type StoredToken,
  TOKEN_ENTRIES,
  tokenEntriesTable,
  tokenKey,
  userKey,
  usersTable,
} from "../tables/users.ts";

/** Prefix of tokens, so that secret scanners recognize them. */
export const TOKEN_PREFIX = "weft_";

export const hashToken = (token: string): string => hash("sha256", token, "hex");

/**
 * Returns the user and scopes of a token. Returns undefined if it is invalid or expired, or if the user is inactive.
 */
export async function verifyToken(
  { tables, clock }: Pick<Ports, "tables" | "clock">,
  token: string,
): Promise<
  | {
      readonly id: string;
      readonly scopes: readonly Scope[];
      readonly credential: { readonly id: string; readonly expiresAt: number | undefined };
    }
  | undefined
> {
  if (!token.startsWith(TOKEN_PREFIX)) return undefined;
  const found = await tables.get(accessTokensTable, tokenKey(hashToken(token)));
  if (found === undefined || isExpired(found, clock)) return undefined;
  const user = await tables.get(usersTable, userKey(found.user));
  if (user?.is_active !== true) return undefined;
  const expiresAt = found.expires_at === null ? undefined : Date.parse(found.expires_at);
  const credential = { id: `${CREDENTIAL_PREFIX}${found.id}`, expiresAt };
  return { id: user.id, scopes: found.scopes, credential };
}

const CREDENTIAL_PREFIX = "token:";

/** Returns the token id of a credential; undefined for other kinds of credentials. */
export const tokenIdOfCredential = (credentialId: string): string | undefined =>
  credentialId.startsWith(CREDENTIAL_PREFIX) ? credentialId.slice(CREDENTIAL_PREFIX.length) : undefined;

/** Whether the token with this id is neither revoked nor expired. */
export async function isTokenValid(
  { tables, clock }: Pick<Ports, "tables" | "clock">,
  id: string,
): Promise<boolean> {
  const entry = await tables.get(tokenEntriesTable, { pk: TOKEN_ENTRIES, sk: id });
  const found = entry && (await tables.get(accessTokensTable, tokenKey(entry.hash)));
  return found !== undefined && !isExpired(found, clock);
}

const isExpired = ({ expires_at }: StoredToken, clock: Ports["clock"]): boolean =>
  expires_at !== null && Date.parse(expires_at) <= clock.now();
