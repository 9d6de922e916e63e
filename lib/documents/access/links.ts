/** Who reaches a document by its link, fewest first. Reference 2.2. */
export const LINK_REACHES = ["restricted", "authenticated", "public"] as const;
export type LinkReach = (typeof LINK_REACHES)[number];

/** What a link allows, least first. */
export const LINK_ROLES = ["reader", "commenter", "editor"] as const;
export type LinkRole = (typeof LINK_ROLES)[number];

/** The link of one document, as it is set there. */
export interface Link {
  readonly reach: LinkReach;
  readonly role: LinkRole;
}

/** What several links come to; nulls where there are none, and no role where nobody is let in by it. */
export interface EquivalentLink {
  readonly reach: LinkReach | null;
  readonly role: LinkRole | null;
}

const rank = (reach: LinkReach): number => LINK_REACHES.indexOf(reach);
const roleRank = (role: LinkRole): number => LINK_ROLES.indexOf(role);

/** The widest reach, with the highest role among the links that have it. Reference 2.1. */
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

/** What a document's link may be set to below ancestors whose links come to this: never less. Reference 2.2. */
export function linkSelectOptions(ancestors: EquivalentLink): LinkSelectOptions {
  const roles = ancestors.role === null ? LINK_ROLES : LINK_ROLES.slice(roleRank(ancestors.role));
  const reaches = ancestors.reach === null ? LINK_REACHES : LINK_REACHES.slice(rank(ancestors.reach));
  return Object.fromEntries(reaches.map((reach) => [reach, reach === "restricted" ? null : roles]));
}

/** What the link gives to somebody who has it. */
export function linkRoleFor({ reach, role }: EquivalentLink, isAuthenticated: boolean): LinkRole | null {
  return reach === "public" || (reach === "authenticated" && isAuthenticated) ? role : null;
}
