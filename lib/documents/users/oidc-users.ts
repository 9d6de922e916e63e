import type { OidcSettings } from "../../settings/oidc.ts";
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
  OidcSettings,
  "createUser" | "fallbackToEmail" | "allowDuplicateEmails" | "ownerEmail" | "ownerByEmail"
>;

/**
 * The user whom an identity provider means, who is made where there is none. Undefined for one who may not come in: who
 * is not active, or whose address is that of others or of the installation's owner. Reference 1.15.
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

/** Who comes with this `sub` for the first time. */
async function linkOrCreateUser(
  deps: UserDeps,
  { createUser, fallbackToEmail, allowDuplicateEmails, ownerEmail, ownerByEmail }: UserRules,
  identified: OidcIdentity,
): Promise<StoredUser | undefined> {
  const { sub, email } = identified;
  const others = email === null ? [] : await usersByEmail(deps, email);
  // Also while the owner is not known yet: whoever had the address then would get what it is invited to.
  const isOwners = email !== null && normalizeEmail(email) === normalizeEmail(ownerEmail);
  if (isOwners || others.some(({ id }) => id === OWNER_ID)) if (!ownerByEmail) return undefined;
  const [only, ...more] = others;
  if (only !== undefined && fallbackToEmail) return more.length === 0 ? linkSub(deps, only, sub) : undefined;
  if (only !== undefined && !allowDuplicateEmails) return undefined;
  if (!createUser) return undefined;
  const { user, writes } = planUser(deps, identified);
  if ((await deps.tables.write(writes)).ok) return user;
  // Another request of theirs was first.
  return userBySub(deps, sub);
}

/** Who never had a `sub` has this one from now on. */
async function linkSub(deps: UserDeps, user: StoredUser, sub: string): Promise<StoredUser | undefined> {
  if (user.sub !== null || !user.is_active) return user;
  const { id } = user;
  const outcome = await deps.tables.write([
    {
      ...{ op: "update", table: usersTable, key: userKey(id) },
      // Who was invited meanwhile comes to have it with their next request.
      change: { set: { sub, invitations_pending: true }, add: { revision: 1 } },
      when: [["sub", "=", null]],
    },
    { op: "put", table: userIdentitiesTable, item: { ...subKey(sub), id }, when: [["pk", "missing"]] },
  ]);
  return outcome.ok ? { ...user, sub } : userBySub(deps, sub);
}

/** With the names that the provider has for them now. */
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
      ...{ op: "update", table: usersTable, key: userKey(user.id) },
      change: { set: names, add: { revision: 1 } },
      when: [["pk", "exists"]],
    },
    ...planDirectoryEntry(after),
  ]);
  return after;
}
