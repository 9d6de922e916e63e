/** Roles of people on a document, lowest first; rights are inherited downward and only ever rise. Reference 2.2. */
export const ROLES = ["reader", "commenter", "editor", "administrator", "owner"] as const;
export type Role = (typeof ROLES)[number];

/** May manage who else has access. */
export const PRIVILEGED_ROLES: ReadonlySet<Role> = new Set(["administrator", "owner"]);

/** The higher of two roles; null is no role. */
export function higherRole(one: Role | null, other: Role | null): Role | null {
  if (one === null) return other;
  if (other === null) return one;
  return ROLES.indexOf(one) >= ROLES.indexOf(other) ? one : other;
}

/** The highest of several roles; null where there are none. */
export const highestRole = (roles: Iterable<Role | null>): Role | null => [...roles].reduce(higherRole, null);

export const isPrivileged = (role: Role | null): boolean => role !== null && PRIVILEGED_ROLES.has(role);

/** Roles up to this one, lowest first. */
export const rolesUpTo = (role: Role): readonly Role[] => ROLES.slice(0, ROLES.indexOf(role) + 1);

/** Roles from this one on, lowest first; all where there is none. */
export const rolesFrom = (role: Role | null): readonly Role[] =>
  role === null ? ROLES : ROLES.slice(ROLES.indexOf(role));
