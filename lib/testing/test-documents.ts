import { countAccesses, planFirstAccess } from "../documents/access/grants.ts";
import type { LinkReach, LinkRole } from "../documents/access/links.ts";
import type { Role } from "../documents/access/roles.ts";
import { accessesTable, accessId, accessKey, type StoredAccess } from "../documents/access/table.ts";
import {
  childrenOf,
  childrenTable,
  documentKey,
  documentsTable,
  type StoredDocument,
} from "../documents/tree/table.ts";
import { createToken } from "../documents/users/tokens.ts";
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

/** Gives somebody a role on a document, as sharing does. */
export async function grant(deps: Deps, document: string, user: string, role: Role): Promise<void> {
  const counted = countAccesses(document, 1, role === "owner" ? 1 : 0);
  await deps.tables.write([...planFirstAccess(deps, document, user, role), counted]);
}

/** Gives a team a role on a document. */
export async function grantTeam(deps: Deps, document: string, team: string, role: Role): Promise<void> {
  const id = accessId(document, { team });
  const item: StoredAccess = {
    ...{ ...accessKey(document, id), id, document, user: null, team, role, revision: 1 },
    created_at: new Date(deps.clock.now()).toISOString(),
  };
  const counted = countAccesses(document, 1, role === "owner" ? 1 : 0);
  await deps.tables.write([{ op: "put", table: accessesTable, item }, counted]);
}

/** Sets the link of a document, whatever lies above it. */
export async function setLink(
  deps: Deps,
  document: string,
  link_reach: LinkReach,
  link_role: LinkRole,
): Promise<void> {
  await deps.tables.update(documentsTable, documentKey(document), { set: { link_reach, link_role } });
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
