import { type Abilities, type AccessContext, computeAbilities } from "../documents/access/abilities.ts";
import { equivalentLink, LINK_REACHES, LINK_ROLES, type Link } from "../documents/access/links.ts";
import type { Role } from "../documents/access/roles.ts";

/** Who asks: by role, by the link alone, seen there before or not, with a name or without; and who made the document. */
export const ASKERS = {
  none: { role: null },
  "link-only": { role: null, hasTrace: true },
  reader: { role: "reader" },
  maker: { role: "reader", isCreator: true },
  commenter: { role: "commenter" },
  editor: { role: "editor" },
  administrator: { role: "administrator" },
  owner: { role: "owner" },
  anonymous: { role: null, isAuthenticated: false },
} as const satisfies Record<string, Partial<AccessContext>>;
export type Asker = keyof typeof ASKERS;
export const asksAs = (asker: Asker): Partial<AccessContext> & { readonly role: Role | null } => ({
  ...ASKERS[asker],
});

/** Where the document lies, and on what the roles and the link are set. */
const PLACES = ["root", "own", "inherited"] as const;
/** Deleted itself, with what it lies in, or so long ago that nobody brings it back. */
const STATES = ["live", "deleted", "below", "gone"] as const;

export interface Situation {
  readonly asker: Asker;
  readonly link: Link;
  readonly place: (typeof PLACES)[number];
  readonly state: (typeof STATES)[number];
}

/** What all askers find in common. */
export type Scene = Omit<Situation, "asker">;

const links: readonly Link[] = LINK_REACHES.flatMap((reach) => LINK_ROLES.map((role) => ({ reach, role })));
const scenes: readonly Scene[] = PLACES.flatMap((place) =>
  STATES.filter((state) => place !== "root" || state !== "below").flatMap((state) =>
    links.map((link) => ({ link, place, state })),
  ),
);
export const askers = Object.keys(ASKERS) as Asker[];

/** Every situation that somebody can be in to a document. */
export const SITUATIONS: readonly Situation[] = scenes.flatMap((scene) =>
  askers.map((asker) => ({ ...scene, asker })),
);

const NO_LINK: Link = { reach: "restricted", role: "reader" };

/** How the asker stands to the document, by the table alone. */
export function standingIn({ asker, link, place, state }: Situation): AccessContext {
  const above = place === "root" ? [] : [place === "inherited" ? link : NO_LINK];
  return {
    ...{ isAuthenticated: true, isCreator: false, hasTrace: false, aiAllowReachFrom: "authenticated" },
    ...{ isDeleted: state !== "live", isRoot: place === "root" },
    link: equivalentLink([...above, place === "inherited" ? NO_LINK : link]),
    ancestorsLink: equivalentLink(above),
    ...asksAs(asker),
  };
}

export const abilitiesIn = (situation: Situation): Abilities => computeAbilities(standingIn(situation));

export const nameOf = ({ asker, link, place, state }: Situation): string =>
  `${asker}, ${link.reach} ${link.role}, ${place}, ${state}`;
