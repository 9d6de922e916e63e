import { randomBytes } from "node:crypto";
import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import { credentialsEnded } from "../changes/change-log.ts";
import { accessTokensTable, SCOPES, TOKEN_ENTRIES, tokenEntriesTable, tokenKey } from "../tables/users.ts";
import { findUser, planUser, type UserDeps, usersByEmail } from "./users.ts";
import { hashToken, TOKEN_PREFIX } from "./verify-token.ts";

const TOKEN_BYTES = 32;
const TOKENS_MAX = 10_000;
const EMAIL_MAX_LENGTH = 254;
const NAME_MAX_LENGTH = 100;

/** Request for an access token. Without `scopes` it has all. */
export const tokenBody = z.object({
  email: z.email().max(EMAIL_MAX_LENGTH),
  name: z
    .string()
    .max(NAME_MAX_LENGTH)
    .optional()
    .describe("Name of the token, and of the user if one is created"),
  scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length).optional(),
  expires_at: z.iso.datetime().nullish().describe("Without it, the token is valid until it is revoked"),
});
export type TokenRequest = z.infer<typeof tokenBody>;

/** An access token as listed. */
export const tokenRecord = z
  .object({
    id: z.string(),
    user: z.string().describe("Id of the user"),
    email: z.string().nullable(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    created_at: z.string(),
    expires_at: z.string().nullable(),
  })
  .meta({ id: "AccessToken" });
export type TokenRecord = z.infer<typeof tokenRecord>;

/**
 * Creates a token for the user with this email address, and the user if necessary. The token is returned once, in
 * clear text. Throws `conflict` if several users have the address, `too_many_requests` if there are 10,000 tokens.
 */
export async function createToken(
  deps: UserDeps,
  { email, name = "", scopes = [...SCOPES], expires_at = null }: TokenRequest,
): Promise<{ readonly token: string; readonly record: TokenRecord }> {
  if ((await readAll(deps, tokenEntriesTable, { pk: TOKEN_ENTRIES })).length >= TOKENS_MAX)
    throw new ApiError(
      "too_many_requests",
      `The limit of ${TOKENS_MAX} tokens is reached; revoke some first`,
    );
  const known = await usersByEmail(deps, email);
  if (known.length > 1) throw new ApiError("conflict", "email: several users have this address");
  const { user, writes } =
    known[0] === undefined
      ? planUser(deps, { email, full_name: name || null })
      : { user: known[0], writes: [] };
  const token = `${TOKEN_PREFIX}${randomBytes(TOKEN_BYTES).toString("base64url")}`;
  const key = tokenKey(hashToken(token));
  const created_at = new Date(deps.clock.now()).toISOString();
  const fields = { id: deps.ids.random(), user: user.id, name, scopes: [...scopes], created_at, expires_at };
  const entry = { pk: TOKEN_ENTRIES, sk: fields.id, hash: key.pk };
  const outcome = await deps.tables.write([
    ...writes,
    { op: "put", table: accessTokensTable, item: { ...key, ...fields } },
    { op: "put", table: tokenEntriesTable, item: entry },
  ]);
  if (!outcome.ok) throw new ApiError("conflict", "The token could not be created; try again");
  return { token, record: { ...fields, email: user.email } };
}

/** Lists all tokens, oldest first. */
export async function listTokens(deps: Pick<Ports, "tables">): Promise<TokenRecord[]> {
  const entries = await readAll(deps, tokenEntriesTable, { pk: TOKEN_ENTRIES });
  const tokens = await deps.tables.batchGet(
    accessTokensTable,
    entries.map((entry) => tokenKey(entry.hash)),
  );
  const records = await Promise.all(
    tokens.map(async ({ pk: _pk, sk: _sk, ...token }) => {
      const user = await findUser(deps, token.user);
      return { ...token, scopes: [...token.scopes], email: user?.email ?? null };
    }),
  );
  return records.sort((one, other) => (one.created_at < other.created_at ? -1 : 1));
}

/** Throws `not_found`. */
export async function revokeToken(deps: Pick<Ports, "tables" | "ids">, id: string): Promise<void> {
  const key = { pk: TOKEN_ENTRIES, sk: id };
  const entry = await deps.tables.get(tokenEntriesTable, key);
  if (entry === undefined) throw new ApiError("not_found", "Token not found");
  const token = await deps.tables.get(accessTokensTable, tokenKey(entry.hash));
  await deps.tables.write([
    { op: "delete", table: accessTokensTable, key: tokenKey(entry.hash) },
    { op: "delete", table: tokenEntriesTable, key },
    ...(token === undefined ? [] : credentialsEnded(deps, token.user)),
  ]);
}
