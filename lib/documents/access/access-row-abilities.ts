import { isPrivileged, ROLES, type Role, rolesFrom, rolesUpTo } from "./roles.ts";

/** How somebody stands to a row of access: all that its abilities depend on. */
export interface AccessRowContext {
  /** The caller's highest role on the row's document or above it; links are none. */
  readonly callerRole: Role | null;
  /** The row is the caller's. */
  readonly isOwn: boolean;
  /** Of the row. */
  readonly role: Role;
  readonly isRoot: boolean;
  /** Rows of owners that the row's document has, this one among them. */
  readonly owners: number;
  /** Highest role that the row's user or team has above the document; null where that is not asked. */
  readonly maxAncestorsRole: Role | null;
}

export interface AccessRowAbilities {
  readonly destroy: boolean;
  readonly update: boolean;
  readonly partial_update: boolean;
  readonly retrieve: boolean;
  /** What the role may be changed to; empty where there is no choice. */
  readonly set_role_to: readonly Role[];
}

/** The one place where it is decided who may do what with a row of access of a live document. Reference 2.3. */
export function computeAccessRowAbilities(context: AccessRowContext): AccessRowAbilities {
  const { callerRole, isOwn, role, isRoot, owners, maxAncestorsRole } = context;
  const isOwner = callerRole === "owner";
  const manages = isPrivileged(callerRole);
  // A root always has an owner; below it, owners are inherited.
  const ownerMayGo = isOwner && (!isRoot || owners > 1);
  const destroy = role === "owner" ? ownerMayGo : manages;
  const roles = destroy ? (isOwner ? ROLES : rolesUpTo("administrator")) : [];
  const inherited = rolesFrom(maxAncestorsRole);
  const choices = roles.filter((one) => inherited.includes(one));
  const set_role_to = choices.length === 1 ? [] : choices;
  const update = manages && set_role_to.length > 0;
  return { destroy, update, partial_update: update, retrieve: isOwn || manages, set_role_to };
}
