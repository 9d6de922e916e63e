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

/** Somebody who has signed up, with a token of their own. */
export interface Person {
  readonly id: string;
  readonly token: string;
}

export async function person(deps: Deps, name: string): Promise<Person> {
  const { token, record } = await createToken(deps, { email: `${name}@example.com` });
  return { id: record.user, token };
}

/** Writes as every change of the documents does: so all that is made from them comes to know. */
export const write = (deps: Deps, writes: readonly Write[]): Promise<void> =>
  commitChange(deps, async () => ({ writes, events: [], result: undefined }));

const counted = (document: string, role: Role): Write => ({
  ...{ op: "update", table: documentsTable, key: documentKey(document) },
  change: { add: { accesses: 1, owners: role === "owner" ? 1 : 0 } },
});

/** Gives somebody a role on a document. */
export const grant = (deps: Deps, document: string, user: string, role: Role): Promise<void> =>
  write(deps, [...planInitialAccess(deps, document, user, role), counted(document, role)]);

/** Gives a team a role on a document. */
export function grantTeam(deps: Deps, document: string, team: string, role: Role): Promise<void> {
  const id = accessId(document, { team });
  const item: StoredAccess = {
    ...{ ...accessKey(document, id), id, document, user: null, team, role, revision: 1 },
    created_at: new Date(deps.clock.now()).toISOString(),
  };
  return write(deps, [{ op: "put", table: accessesTable, item }, counted(document, role)]);
}

/** Sets the link of a document, whatever lies above it. */
export function setLink(
  deps: Deps,
  document: string,
  link_reach: LinkReach,
  link_role: LinkRole,
): Promise<void> {
  const change = { set: { link_reach, link_role } };
  return write(deps, [{ op: "update", table: documentsTable, key: documentKey(document), change }]);
}

/** A document as it is stored. Throws where there is none. */
export async function stored(deps: Deps, id: string): Promise<StoredDocument> {
  const document = await deps.tables.get(documentsTable, documentKey(id));
  if (document === undefined) throw new Error(`there is no document ${id}`);
  return document;
}

/** Whose roles are granted on a document itself: `user role`, sorted. */
export async function rolesOn(deps: Deps, document: string): Promise<string[]> {
  const { items } = await deps.tables.query(accessesTable, { pk: document });
  return items.map(({ user, team, role }) => `${user ?? team} ${role}`).toSorted();
}

/** Live children, in their order. */
export async function childrenIds(deps: Deps, parent: string): Promise<string[]> {
  const { items } = await deps.tables.query(childrenTable, { pk: childrenOf(parent) });
  return items.map(({ id }) => id);
}
