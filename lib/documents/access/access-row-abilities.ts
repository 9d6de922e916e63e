import { isPrivileged, ROLES, type Role, rolesFrom, rolesUpTo } from "./roles.ts";

/** The facts that a viewer's abilities on an access row depend on. */
export interface AccessRowContext {
  /** The caller's highest role on the row's document or an ancestor. Link roles do not count. */
  readonly callerRole: Role | null;
  /** The row belongs to the caller. */
  readonly isOwn: boolean;
  /** The row's role. */
  readonly role: Role;
  readonly isRoot: boolean;
  /** Number of owners of the row's document, including this row. */
  readonly owners: number;
  /** Highest role of the row's user or team on an ancestor; null if not computed. */
  readonly maxAncestorsRole: Role | null;
}

export interface AccessRowAbilities {
  readonly destroy: boolean;
  readonly update: boolean;
  readonly partial_update: boolean;
  readonly retrieve: boolean;
  /** Roles that the row may be changed to; empty if it cannot be changed. */
  readonly set_role_to: readonly Role[];
}

/** Computes every ability of a viewer on an access row of a live document. Reference 2.3. */
export function computeAccessRowAbilities(context: AccessRowContext): AccessRowAbilities {
  const { callerRole, isOwn, role, isRoot, owners, maxAncestorsRole } = context;
  const isOwner = callerRole === "owner";
  const manages = isPrivileged(callerRole);
  // A root must have an owner; descendants inherit owners.
  const ownerMayGo = isOwner && (!isRoot || owners > 1);
  const destroy = role === "owner" ? ownerMayGo : manages;
  const roles = destroy ? (isOwner ? ROLES : rolesUpTo("administrator")) : [];
  const inherited = rolesFrom(maxAncestorsRole);
  const choices = roles.filter((one) => inherited.includes(one));
  const set_role_to = choices.length === 1 ? [] : choices;
  const update = manages && set_role_to.length > 0;
  return { destroy, update, partial_update: update, retrieve: isOwn || manages, set_role_to };
}
