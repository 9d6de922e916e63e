import type { LinkReach, LinkRole } from "../documents/access/links.ts";
import type { Role } from "../documents/access/roles.ts";
import { commitChange } from "../documents/changes/commit.ts";
import { planInitialAccess } from "../documents/grants/grants.ts";
import { accessesTable, accessId, accessKey, type StoredAccess } from "../documents/tables/accesses.ts";
import {
  childrenOf,
  childrenTable,
  documentKey,
  documentsTable,
  type StoredDocument,
} from "../documents/tables/documents.ts";
import { createToken } from "../documents/users/tokens.ts";
import type { Write } from "../platform/tables.ts";
import type { TestDeps } from "./test-deps.ts";

type Deps = TestDeps["deps"];

/** A signed-up user and their token. */
export interface TestUser {
  readonly id: string;
  readonly token: string;
}

export async function createUser(deps: Deps, name: string): Promise<TestUser> {
  const { token, record } = await createToken(deps, { email: `${name}@example.com` });
  return { id: record.user, token };
}

/** Writes as the document service does, so that derived data is updated. */
export const writeRows = (deps: Deps, writes: readonly Write[]): Promise<void> =>
  commitChange(deps, async () => ({ writes, events: [], result: undefined }));

const countAccess = (document: string, role: Role): Write => ({
  op: "update",
  table: documentsTable,
  key: documentKey(document),
  change: { add: { accesses: 1, owners: role === "owner" ? 1 : 0 } },
});

/** Gives a user a role on a document. */
export const grantRole = (deps: Deps, document: string, user: string, role: Role): Promise<void> =>
  writeRows(deps, [...planInitialAccess(deps, document, user, role), countAccess(document, role)]);

/** Gives a team a role on a document. */
export function grantTeam(deps: Deps, document: string, team: string, role: Role): Promise<void> {
  const id = accessId(document, { team });
  const item: StoredAccess = {
    ...accessKey(document, id),
    id,
    document,
    user: null,
    team,
    role,
    revision: 1,
    created_at: new Date(deps.clock.now()).toISOString(),
  };
  return writeRows(deps, [{ op: "put", table: accessesTable, item }, countAccess(document, role)]);
}

/** Sets the link of a document, regardless of its ancestors. */
export function setLink(
  deps: Deps,
  document: string,
  link_reach: LinkReach,
  link_role: LinkRole,
): Promise<void> {
  const change = { set: { link_reach, link_role } };
  return writeRows(deps, [{ op: "update", table: documentsTable, key: documentKey(document), change }]);
}

/** A stored document. Throws if it does not exist. */
export async function readDocument(deps: Deps, id: string): Promise<StoredDocument> {
  const document = await deps.tables.get(documentsTable, documentKey(id));
  if (document === undefined) throw new Error(`document not found: ${id}`);
  return document;
}

/** Roles granted on the document itself, as sorted `user role` texts. */
export async function listRoles(deps: Deps, document: string): Promise<string[]> {
  const { items } = await deps.tables.query(accessesTable, { pk: document });
  return items.map(({ user, team, role }) => `${user ?? team} ${role}`).toSorted();
}

/** Children that are not deleted, in order. */
export async function listChildren(deps: Deps, parent: string): Promise<string[]> {
  const { items } = await deps.tables.query(childrenTable, { pk: childrenOf(parent) });
  return items.map(({ id }) => id);
}
