/** Link reaches, most restricted first. Reference 2.2. */
export const LINK_REACHES = ["restricted", "authenticated", "public"] as const;
export type LinkReach = (typeof LINK_REACHES)[number];

/** Link roles, lowest first. */
export const LINK_ROLES = ["reader", "commenter", "editor"] as const;
export type LinkRole = (typeof LINK_ROLES)[number];

/** The link settings of one document. */
export interface Link {
  readonly reach: LinkReach;
  readonly role: LinkRole;
}

/**
 * The combination of several links. `reach` is null if there are no links; `role` is null if the link gives no
 * access.
 */
export interface EquivalentLink {
  readonly reach: LinkReach | null;
  readonly role: LinkRole | null;
}

const rank = (reach: LinkReach): number => LINK_REACHES.indexOf(reach);
const roleRank = (role: LinkRole): number => LINK_ROLES.indexOf(role);

/** Combines links: the widest reach, with the highest role among the links of that reach. Reference 2.1. */
export function equivalentLink(links: Iterable<Link>): EquivalentLink {
  let found: Link | undefined;
  for (const link of links) {
    const difference = found === undefined ? 1 : rank(link.reach) - rank(found.reach);
    if (found === undefined || difference > 0) found = link;
    else if (difference === 0 && roleRank(link.role) > roleRank(found.role)) found = link;
  }
  if (found === undefined) return { reach: null, role: null };
  return { reach: found.reach, role: found.reach === "restricted" ? null : found.role };
}

export type LinkSelectOptions = Readonly<Partial<Record<LinkReach, readonly LinkRole[] | null>>>;

/**
 * The link settings allowed below ancestors with this combined link: never more restricted than the ancestors.
 * Reference 2.2.
 */
export function linkSelectOptions(ancestors: EquivalentLink): LinkSelectOptions {
  const roles = ancestors.role === null ? LINK_ROLES : LINK_ROLES.slice(roleRank(ancestors.role));
  const reaches = ancestors.reach === null ? LINK_REACHES : LINK_REACHES.slice(rank(ancestors.reach));
  return Object.fromEntries(reaches.map((reach) => [reach, reach === "restricted" ? null : roles]));
}

/** The role that a link gives to a viewer. */
export function linkRoleFor({ reach, role }: EquivalentLink, isAuthenticated: boolean): LinkRole | null {
  return reach === "public" || (reach === "authenticated" && isAuthenticated) ? role : null;
}
