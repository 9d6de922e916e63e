import { randomBytes } from "node:crypto";
import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { LOGIN_LINKS, loginLinkKey, loginLinksTable, type StoredLoginLink } from "../tables/login-links.ts";
import { SCOPES, type Scope, type StoredUser } from "../tables/users.ts";
import { findUser, getOrCreateOwner, OWNER_ID, type UserDeps, usersByEmail } from "../users/users.ts";
import { hashToken } from "../users/verify-token.ts";

const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;
/** How long a link is valid, milliseconds. */
const VALID_MS = 10 * 60_000;
const LINKS_MAX = 200;
const EMAIL_MAX_LENGTH = 254;

export const LOGIN_PATH = "/login";

type Deps = UserDeps & { readonly documents: { readonly ownerEmail: string } };

/** Request for a login link. */
export const loginLinkBody = z.object({
  email: z.email().max(EMAIL_MAX_LENGTH).optional().describe("Email address of a user; default: the owner"),
  scopes: z
    .array(z.enum(SCOPES))
    .min(1)
    .max(SCOPES.length)
    .optional()
    .describe("Services that the session gives access to; default: documents, and both for the owner"),
});
export type LoginLinkRequest = z.infer<typeof loginLinkBody>;

export const loginLinkRecord = z
  .object({
    url: z.string().describe("Signs the user in once"),
    email: z.string().nullable(),
    expires_at: z.string().meta({ format: "date-time" }),
  })
  .meta({ id: "LoginLink" });
export type LoginLinkRecord = z.infer<typeof loginLinkRecord>;

/**
 * Creates a link for a user, or for the owner if no email address is given. `baseUrl` has no slash at the end. Throws
 * `bad_request` for an unknown address, `conflict` if several users have it, `forbidden` for an inactive user,
 * `too_many_requests` if there are 200 links.
 */
export async function createLoginLink(
  deps: Deps,
  { email, scopes }: LoginLinkRequest,
  baseUrl: string,
): Promise<LoginLinkRecord> {
  const user =
    email === undefined ? await getOrCreateOwner(deps, deps.documents.ownerEmail) : await userOf(deps, email);
  if (!user.is_active) throw new ApiError("forbidden", "email: this user is not active");
  const links = await readAll(deps, loginLinksTable, { pk: LOGIN_LINKS });
  const expired = links.filter((link) => isExpired(link, deps.clock));
  if (links.length - expired.length >= LINKS_MAX)
    throw new ApiError(
      "too_many_requests",
      `There are ${LINKS_MAX} unused login links; wait until they expire`,
    );
  const expires_at = new Date(deps.clock.now() + VALID_MS).toISOString();
  const isOwner = user.id === OWNER_ID;
  const token = await storeLink(deps, expired, {
    user: user.id,
    scopes: scopes ?? (isOwner ? SCOPES : ["documents"]),
    expires_at,
    // The owner opens the link on the machine where it was created; links for others are sent to them.
    asks: !isOwner,
  });
  return { url: linkUrl(baseUrl, token), email: user.email, expires_at };
}

async function userOf(deps: Pick<Ports, "tables">, email: string): Promise<StoredUser> {
  const [user, ...others] = await usersByEmail(deps, email);
  if (user === undefined)
    throw new ApiError(
      "bad_request",
      "email: no user has this address; create one with weft token create --email",
    );
  if (others.length > 0) throw new ApiError("conflict", "email: several users have this address");
  return user;
}

/** Creates the owner's link that a start of the server prints. It replaces that of the start before. */
export async function createStartLink(deps: Deps, baseUrl: string): Promise<string> {
  const { id } = await getOrCreateOwner(deps, deps.documents.ownerEmail);
  const links = await readAll(deps, loginLinksTable, { pk: LOGIN_LINKS });
  const replaced = links.filter((link) => link.expires_at === null);
  const token = await storeLink(deps, replaced, { user: id, scopes: SCOPES, expires_at: null, asks: false });
  return linkUrl(baseUrl, token);
}

/** Links that are deleted together with the creation of one: the limit of a transaction, less one. */
const DELETED_MAX = 99;

async function storeLink(
  { tables }: Pick<Ports, "tables">,
  replaced: readonly StoredLoginLink[],
  link: Omit<StoredLoginLink, "pk" | "sk">,
): Promise<string> {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  await tables.write([
    ...replaced
      .slice(0, DELETED_MAX)
      .map(({ pk, sk }): Write => ({ op: "delete", table: loginLinksTable, key: { pk, sk } })),
    { op: "put", table: loginLinksTable, item: { ...loginLinkKey(hashToken(token)), ...link } },
  ]);
  return token;
}

const linkUrl = (baseUrl: string, token: string): string => `${baseUrl}${LOGIN_PATH}?token=${token}`;

/** A link that is valid now. */
export interface LoginLink {
  readonly user: StoredUser;
  readonly scopes: readonly Scope[];
  readonly asks: boolean;
}

/** Returns the link with this token; undefined if it is unknown, used or expired, or its user is inactive. */
export async function findLoginLink(
  deps: Pick<Ports, "tables" | "clock">,
  token: string,
): Promise<LoginLink | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const link = await deps.tables.get(loginLinksTable, loginLinkKey(hashToken(token)));
  if (link === undefined || isExpired(link, deps.clock)) return undefined;
  const user = await findUser(deps, link.user);
  return user?.is_active === true ? { user, scopes: link.scopes, asks: link.asks } : undefined;
}

/** Uses the link with this token up, and returns it; undefined if it is not valid. Of several calls, one gets it. */
export async function takeLoginLink(
  deps: Pick<Ports, "tables" | "clock">,
  token: string,
): Promise<LoginLink | undefined> {
  const link = await findLoginLink(deps, token);
  if (link === undefined) return undefined;
  const key = loginLinkKey(hashToken(token));
  const { ok } = await deps.tables.write([
    { op: "delete", table: loginLinksTable, key, when: [["pk", "exists"]] },
  ]);
  return ok ? link : undefined;
}

const isExpired = ({ expires_at }: StoredLoginLink, clock: Ports["clock"]): boolean =>
  expires_at !== null && Date.parse(expires_at) <= clock.now();
