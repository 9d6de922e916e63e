import type { AccessContext } from "../documents/access/abilities.ts";
import { equivalentLink, LINK_REACHES, LINK_ROLES, type Link } from "../documents/access/links.ts";
import type { Role } from "../documents/access/roles.ts";

/** Callers: by role, by link only, with or without an earlier visit, anonymous; and the creator of the document. */
export const CALLERS = {
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
export type Caller = keyof typeof CALLERS;
export const standingOf = (caller: Caller): Partial<AccessContext> & { readonly role: Role | null } => ({
  ...CALLERS[caller],
});

/** The document's position, and where roles and link are set. */
const POSITIONS = ["root", "own", "inherited"] as const;
/** Deleted itself, deleted with an ancestor, or deleted so long ago that it cannot be restored. */
const STATES = ["live", "deleted", "below", "gone"] as const;

export interface Situation {
  readonly caller: Caller;
  readonly link: Link;
  readonly position: (typeof POSITIONS)[number];
  readonly state: (typeof STATES)[number];
}

/** A situation without its caller. */
export type DocumentState = Omit<Situation, "caller">;

const links: readonly Link[] = LINK_REACHES.flatMap((reach) => LINK_ROLES.map((role) => ({ reach, role })));
const DOCUMENT_STATES: readonly DocumentState[] = POSITIONS.flatMap((position) =>
  STATES.filter((state) => position !== "root" || state !== "below").flatMap((state) =>
    links.map((link) => ({ link, position, state })),
  ),
);
export const CALLER_NAMES = Object.keys(CALLERS) as Caller[];

/** Every combination of caller and document. */
export const SITUATIONS: readonly Situation[] = DOCUMENT_STATES.flatMap((state) =>
  CALLER_NAMES.map((caller) => ({ ...state, caller })),
);

const NO_LINK: Link = { reach: "restricted", role: "reader" };

/** The caller's access to the document, from the table only. */
export function expectedStanding({ caller, link, position, state }: Situation): AccessContext {
  const above = position === "root" ? [] : [position === "inherited" ? link : NO_LINK];
  return {
    isAuthenticated: true,
    isCreator: false,
    hasTrace: false,
    aiAllowReachFrom: "authenticated",
    isDeleted: state !== "live",
    isRoot: position === "root",
    link: equivalentLink([...above, position === "inherited" ? NO_LINK : link]),
    ancestorsLink: equivalentLink(above),
    ...standingOf(caller),
  };
}

export const situationName = ({ caller, link, position, state }: Situation): string =>
  `${caller}, ${link.reach} ${link.role}, ${position}, ${state}`;
