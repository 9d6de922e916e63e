import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import {
  emailKey,
  emailPartition,
  type StoredUser,
  subKey,
  userIdentitiesTable,
  userKey,
  usersTable,
} from "../tables/users.ts";
import { planDirectoryEntry } from "./directory.ts";

export type UserDeps = Pick<Ports, "tables" | "ids" | "clock">;

/** Id of the user of the installation's own token. */
export const OWNER_ID = "00000000-0000-4000-8000-000000000001";

/** Fields of a new user. */
export interface NewUser {
  readonly id?: string;
  readonly sub?: string | null;
  readonly email?: string | null;
  readonly full_name?: string | null;
  readonly short_name?: string | null;
  readonly language?: string | null;
}

/** Plans a new user. The writes fail if the id or the `sub` is taken. */
export function planUser(
  deps: Pick<Ports, "ids" | "clock">,
  made: NewUser,
): { user: StoredUser; writes: Write[] } {
  const { sub = null, email = null, full_name = null, short_name = null, language = null } = made;
  const id = made.id ?? deps.ids.random();
  const user: StoredUser = {
    ...userKey(id),
    id,
    sub,
    email,
    full_name,
    short_name,
    language,
    is_active: true,
    is_first_connection: true,
    revision: 1,
    ...(email === null ? {} : { invitations_pending: true }),
    created_at: new Date(deps.clock.now()).toISOString(),
  };
  const table = userIdentitiesTable;
  const when = [["pk", "missing"]] as const;
  const writes: Write[] = [{ op: "put", table: usersTable, item: user, when }];
  if (sub !== null) writes.push({ op: "put", table, item: { ...subKey(sub), id }, when });
  if (email !== null) writes.push({ op: "put", table, item: { ...emailKey(email, id), id } });
  return { user, writes: [...writes, ...planDirectoryEntry(user)] };
}

export const findUser = (deps: Pick<Ports, "tables">, id: string): Promise<StoredUser | undefined> =>
  deps.tables.get(usersTable, userKey(id));

/** Throws `not_found`. */
export async function getUser(deps: Pick<Ports, "tables">, id: string): Promise<StoredUser> {
  const user = await findUser(deps, id);
  if (user === undefined) throw new ApiError("not_found", "Not found.");
  return user;
}

export async function userBySub(deps: Pick<Ports, "tables">, sub: string): Promise<StoredUser | undefined> {
  const identity = await deps.tables.get(userIdentitiesTable, subKey(sub));
  return identity === undefined ? undefined : findUser(deps, identity.id);
}

/** Returns all users with an email address, ignoring case. */
export async function usersByEmail(deps: Pick<Ports, "tables">, email: string): Promise<StoredUser[]> {
  const identities = await readAll(deps, userIdentitiesTable, { pk: emailPartition(email) });
  return deps.tables.batchGet(
    usersTable,
    identities.map(({ id }) => userKey(id)),
  );
}

/** Returns the installation's owner and creates them on first use. */
export async function getOrCreateOwner(deps: UserDeps, email: string): Promise<StoredUser> {
  const found = await findUser(deps, OWNER_ID);
  if (found !== undefined) return found;
  const { user, writes } = planUser(deps, { id: OWNER_ID, email });
  return (await deps.tables.write(writes)).ok ? user : getUser(deps, OWNER_ID);
}
