import type { OidcUserSettings } from "../../settings/oidc.ts";
import {
  normalizeEmail,
  type StoredUser,
  subKey,
  userIdentitiesTable,
  userKey,
  usersTable,
} from "../tables/users.ts";
import { planDirectoryEntry } from "./directory.ts";
import type { OidcIdentity } from "./oidc-tokens.ts";
import { OWNER_ID, planUser, type UserDeps, userBySub, usersByEmail } from "./users.ts";

type UserRules = Pick<
  OidcUserSettings,
  "createUser" | "fallbackToEmail" | "allowDuplicateEmails" | "ownerEmail" | "ownerByEmail"
>;

/**
 * Returns the user of an OIDC identity and creates them if allowed. Returns undefined if the user is inactive, or if
 * the email address belongs to several users or to the installation's owner. Reference 1.15.
 */
export async function resolveOidcUser(
  deps: UserDeps,
  rules: UserRules,
  identified: OidcIdentity,
): Promise<StoredUser | undefined> {
  const known = (await userBySub(deps, identified.sub)) ?? (await linkOrCreateUser(deps, rules, identified));
  if (known?.is_active !== true) return undefined;
  return syncNames(deps, known, identified);
}

/** Links a new `sub` to the user with its email address, or creates a user. */
async function linkOrCreateUser(
  deps: UserDeps,
  { createUser, fallbackToEmail, allowDuplicateEmails, ownerEmail, ownerByEmail }: UserRules,
  identified: OidcIdentity,
): Promise<StoredUser | undefined> {
  const { sub, email } = identified;
  const others = email === null ? [] : await usersByEmail(deps, email);
  // Also before the owner's account exists: otherwise another user could accept the owner's invitations.
  const isOwners = email !== null && normalizeEmail(email) === normalizeEmail(ownerEmail);
  if (isOwners || others.some(({ id }) => id === OWNER_ID)) if (!ownerByEmail) return undefined;
  const [only, ...more] = others;
  if (only !== undefined && fallbackToEmail) return more.length === 0 ? linkSub(deps, only, sub) : undefined;
  if (only !== undefined && !allowDuplicateEmails) return undefined;
  if (!createUser) return undefined;
  const { user, writes } = planUser(deps, identified);
  if ((await deps.tables.write(writes)).ok) return user;
  // A concurrent request created the user.
  return userBySub(deps, sub);
}

/** Stores the `sub` of a user who has none. */
async function linkSub(deps: UserDeps, user: StoredUser, sub: string): Promise<StoredUser | undefined> {
  if (user.sub !== null || !user.is_active) return user;
  const { id } = user;
  const outcome = await deps.tables.write([
    {
      op: "update",
      table: usersTable,
      key: userKey(id),
      // The next request accepts invitations that were created meanwhile.
      change: { set: { sub, invitations_pending: true }, add: { revision: 1 } },
      when: [["sub", "=", null]],
    },
    { op: "put", table: userIdentitiesTable, item: { ...subKey(sub), id }, when: [["pk", "missing"]] },
  ]);
  return outcome.ok ? { ...user, sub } : userBySub(deps, sub);
}

/** Updates the user's names from the identity provider. */
async function syncNames(
  { tables }: UserDeps,
  user: StoredUser,
  { full_name, short_name }: OidcIdentity,
): Promise<StoredUser> {
  const names = { full_name: full_name ?? user.full_name, short_name: short_name ?? user.short_name };
  if (names.full_name === user.full_name && names.short_name === user.short_name) return user;
  const after = { ...user, ...names };
  await tables.write([
    {
      op: "update",
      table: usersTable,
      key: userKey(user.id),
      change: { set: names, add: { revision: 1 } },
      when: [["pk", "exists"]],
    },
    ...planDirectoryEntry(after),
  ]);
  return after;
}
