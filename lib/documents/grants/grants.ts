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

/** Rows of access that one document has at most: all of them are listed at once. */
export const ACCESSES_MAX = 5_000;

/** The access that a user gets on a new document, along with which it is written: the document counts it itself. */
export const planInitialAccess = (
  deps: Pick<Ports, "clock">,
  document: string,
  user: string,
  role: Role,
): Write[] => planRow(deps, document, { user }, role).writes;

/** What is known of a document that a row of access belongs to, as it was read. */
type AccessDocument = Pick<StoredDocument, "id" | "parent" | "position_version">;

/** Who is given a role: one of these two. */
export type Grantee = { readonly user: string } | { readonly team: string };

/** A role that somebody is given who has no row on the document yet: the writes do not hold where they have one. */
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
  const since = new Date(clock.now()).toISOString();
  const id = accessId(document, to);
  const [user, team] = "user" in to ? [to.user, null] : [null, to.team];
  const access: StoredAccess = {
    ...{ ...accessKey(document, id), id, document, user, team, role },
    ...{ created_at: since, revision: 1 },
  };
  const writes: Write[] = [
    { op: "put", table: accessesTable, item: access, when: [["pk", "missing"]] },
    ...updateRelation(access, { set: { document, role, since } }),
  ];
  return { access, writes };
}

/** Another role for whoever has a row: the writes do not hold where it has changed, or a root would lose its last owner. */
export function planRoleChange(document: AccessDocument, access: StoredAccess, role: Role): Write[] {
  const owners = (role === "owner" ? 1 : 0) - (access.role === "owner" ? 1 : 0);
  return [
    {
      ...{ op: "update", table: accessesTable, key: { pk: access.pk, sk: access.sk } },
      change: { set: { role }, add: { revision: 1 } },
      when: [["revision", "=", access.revision]],
    },
    ...updateRelation(access, { set: { role } }),
    ...(owners === 0 ? [] : [adjustAccessCounts(document, 0, owners)]),
  ];
}

/** Takes a row away, under the same conditions. */
export function planRevocation(document: AccessDocument, access: StoredAccess): Write[] {
  return [
    {
      ...{ op: "delete", table: accessesTable, key: { pk: access.pk, sk: access.sk } },
      when: [["revision", "=", access.revision]],
    },
    ...updateRelation(access, { remove: ["role", "since"] }),
    adjustAccessCounts(document, -1, access.role === "owner" ? -1 : 0),
  ];
}

/** The row of a user again, where it is looked up with those of the document's ancestors. */
function updateRelation({ user, document }: StoredAccess, change: Change): Write[] {
  if (user === null) return [];
  return [{ op: "update", table: relationsTable, key: relationKey(user, document), change }];
}

/**
 * Keeps how many rows of access a document has, and how many of them are owners'. It does not hold where it is a root
 * that would be left without an owner, or has become one meanwhile.
 */
export function adjustAccessCounts(document: AccessDocument, accesses: number, owners: number): Write {
  const add = { ...(accesses === 0 ? {} : { accesses }), ...(owners === 0 ? {} : { owners }) };
  // While a move is not settled, the rows do not count yet.
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
