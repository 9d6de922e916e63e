/** Roles on a document, lowest first. A role also applies to all descendants. Reference 2.2. */
export const ROLES = ["reader", "commenter", "editor", "administrator", "owner"] as const;
export type Role = (typeof ROLES)[number];

/** Roles that may manage accesses. */
export const PRIVILEGED_ROLES: ReadonlySet<Role> = new Set(["administrator", "owner"]);

/** Returns the higher of two roles; null means no role. */
export function higherRole(one: Role | null, other: Role | null): Role | null {
  if (one === null) return other;
  if (other === null) return one;
  return ROLES.indexOf(one) >= ROLES.indexOf(other) ? one : other;
}

/** Returns the highest role, or null if there is none. */
export const highestRole = (roles: Iterable<Role | null>): Role | null => [...roles].reduce(higherRole, null);

export const isPrivileged = (role: Role | null): boolean => role !== null && PRIVILEGED_ROLES.has(role);

/** Returns the roles up to this one, lowest first. */
export const rolesUpTo = (role: Role): readonly Role[] => ROLES.slice(0, ROLES.indexOf(role) + 1);

/** Returns the roles from this one on, lowest first; all roles for null. */
export const rolesFrom = (role: Role | null): readonly Role[] =>
  role === null ? ROLES : ROLES.slice(ROLES.indexOf(role));
