import { hash } from "node:crypto";
import type { Ports } from "../../platform/ports.ts";
import { accessTokensTable, type Scope, tokenKey, userKey, usersTable } from "./table.ts";

/** What a token begins with: whoever finds one knows what it opens. */
export const TOKEN_PREFIX = "weft_";

export const hashOf = (token: string): string => hash("sha256", token, "hex");

/** Whose token it is; undefined for a wrong one, an ended one, and one of somebody who may not come in any more. */
export async function userOfToken(
  { tables, clock }: Pick<Ports, "tables" | "clock">,
  token: string,
): Promise<{ readonly id: string; readonly scopes: readonly Scope[] } | undefined> {
  if (!token.startsWith(TOKEN_PREFIX)) return undefined;
  const found = await tables.get(accessTokensTable, tokenKey(hashOf(token)));
  if (found === undefined) return undefined;
  if (found.expires_at !== null && Date.parse(found.expires_at) <= clock.now()) return undefined;
  const user = await tables.get(usersTable, userKey(found.user));
  return user?.is_active === true ? { id: user.id, scopes: found.scopes } : undefined;
}
