import type { Ports } from "../../platform/ports.ts";
import type { Change, Condition, Write } from "../../platform/tables.ts";
import type { Role } from "../access/roles.ts";
import {
  accessesTable,
  accessId,
  accessKey,
  relationKey,
  relationsTable,
  type StoredAccess,
} from "../tables/accesses.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";

/** Maximum number of access rows of a document: they are listed without pages. */
export const ACCESSES_MAX = 5_000;

/** Plans the creator's access to a new document. The document's item already counts it. */
export const planInitialAccess = (
  deps: Pick<Ports, "clock">,
  document: string,
  user: string,
  role: Role,
): Write[] => planRow(deps, document, { user }, role).writes;

/** The document that an access row belongs to, as it was read. */
type AccessDocument = Pick<StoredDocument, "id" | "parent" | "position_version">;

/** The user or the team that receives a role. */
export type Grantee = { readonly user: string } | { readonly team: string };

/** Plans an access. The writes fail if the grantee already has one on the document. */
export function planGrant(
  deps: Pick<Ports, "clock">,
  document: AccessDocument,
  to: Grantee,
  role: Role,
): { access: StoredAccess; writes: Write[] } {
  const { access, writes } = planRow(deps, document.id, to, role);
  return { access, writes: [...writes, adjustAccessCounts(document, 1, role === "owner" ? 1 : 0)] };
}

function planRow(
  { clock }: Pick<Ports, "clock">,
  document: string,
  to: Grantee,
  role: Role,
): { access: StoredAccess; writes: Write[] } {
  const access = newAccess(document, to, role, new Date(clock.now()).toISOString());
  return { access, writes: planAccess(access, [["pk", "missing"]]) };
}

export function newAccess(document: string, to: Grantee, role: Role, created_at: string): StoredAccess {
  const id = accessId(document, to);
  const [user, team] = "user" in to ? [to.user, null] : [null, to.team];
  return { ...accessKey(document, id), id, document, user, team, role, created_at, revision: 1 };
}

export const granteeOf = ({ user, team }: StoredAccess): Grantee =>
  user === null ? { team: team ?? "" } : { user };

/** Stores an access and its relation. */
export function planAccess(access: StoredAccess, when: readonly Condition[] = []): Write[] {
  const { document, role, created_at: since } = access;
  return [
    { op: "put", table: accessesTable, item: access, when },
    ...updateRelation(access, { set: { document, role, since } }),
  ];
}

/**
 * Plans a change of an access's role. The writes fail if the access has changed, or if a root would lose its last
 * owner.
 */
export function planRoleChange(document: AccessDocument, access: StoredAccess, role: Role): Write[] {
  const owners = (role === "owner" ? 1 : 0) - (access.role === "owner" ? 1 : 0);
  return [
    {
      op: "update",
      table: accessesTable,
      key: { pk: access.pk, sk: access.sk },
      change: { set: { role }, add: { revision: 1 } },
      when: [["revision", "=", access.revision]],
    },
    ...updateRelation(access, { set: { role } }),
    ...(owners === 0 ? [] : [adjustAccessCounts(document, 0, owners)]),
  ];
}

/** Plans the removal of an access, under the same conditions. */
export function planRevocation(document: AccessDocument, access: StoredAccess): Write[] {
  return [
    {
      op: "delete",
      table: accessesTable,
      key: { pk: access.pk, sk: access.sk },
      when: [["revision", "=", access.revision]],
    },
    ...updateRelation(access, { remove: ["role", "since"] }),
    adjustAccessCounts(document, -1, access.role === "owner" ? -1 : 0),
  ];
}

/** Updates the relation of the access's user. Accesses of teams have none. */
export function updateRelation({ user, document }: StoredAccess, change: Change): Write[] {
  if (user === null) return [];
  return [{ op: "update", table: relationsTable, key: relationKey(user, document), change }];
}

/**
 * Updates the document's counts of accesses and of owners. The write fails if a root would lose its last owner, or if
 * the document has become a root since it was read.
 */
export function adjustAccessCounts(document: AccessDocument, accesses: number, owners: number): Write {
  const add = { ...(accesses === 0 ? {} : { accesses }), ...(owners === 0 ? {} : { owners }) };
  // While a move is pending, the staged accesses count instead of these rows.
  const when: Condition[] = [
    ["pk", "exists"],
    ["pending_move", "missing"],
  ];
  if (owners < 0) {
    when.push(["position_version", "=", document.position_version]);
    if (document.parent === null) when.push(["owners", ">", -owners]);
  }
  if (accesses > 0) when.push(["accesses", "<", ACCESSES_MAX]);
  return { op: "update", table: documentsTable, key: documentKey(document.id), change: { add }, when };
}
