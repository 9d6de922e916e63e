import { type Abilities, abilitiesOf, type Standing } from "../documents/access/abilities.ts";
import { equivalentLink, LINK_REACHES, LINK_ROLES, type Link } from "../documents/access/links.ts";
import type { Role } from "../documents/access/roles.ts";
import {
  accessesTable,
  accessId,
  accessKey,
  relationKey,
  relationsTable,
} from "../documents/access/table.ts";
import {
  childrenOf,
  childrenTable,
  deletedChildrenOf,
  documentKey,
  documentsTable,
  type StoredDocument,
} from "../documents/tree/table.ts";
import type { Write } from "../platform/tables.ts";
import type { TestDeps } from "./test-deps.ts";
import { type Person, person, write } from "./test-documents.ts";

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
} as const satisfies Record<string, Partial<Standing>>;
export type Asker = keyof typeof ASKERS;
const asksAs = (asker: Asker): Partial<Standing> & { readonly role: Role | null } => ({ ...ASKERS[asker] });

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
type Scene = Omit<Situation, "asker">;

const links: readonly Link[] = LINK_REACHES.flatMap((reach) => LINK_ROLES.map((role) => ({ reach, role })));
const scenes: readonly Scene[] = PLACES.flatMap((place) =>
  STATES.filter((state) => place !== "root" || state !== "below").flatMap((state) =>
    links.map((link) => ({ link, place, state })),
  ),
);
const askers = Object.keys(ASKERS) as Asker[];

/** Every situation that somebody can be in to a document. */
export const SITUATIONS: readonly Situation[] = scenes.flatMap((scene) =>
  askers.map((asker) => ({ ...scene, asker })),
);

const NO_LINK: Link = { reach: "restricted", role: "reader" };

/** How the asker stands to the document, by the table alone. */
export function standingIn({ asker, link, place, state }: Situation): Standing {
  const above = place === "root" ? [] : [place === "inherited" ? link : NO_LINK];
  return {
    ...{ isAuthenticated: true, isCreator: false, hasTrace: false, aiAllowReachFrom: "authenticated" },
    ...{ isDeleted: state !== "live", isRoot: place === "root" },
    link: equivalentLink([...above, place === "inherited" ? NO_LINK : link]),
    ancestorsLink: equivalentLink(above),
    ...asksAs(asker),
  };
}

export const abilitiesIn = (situation: Situation): Abilities => abilitiesOf(standingIn(situation));

export const nameOf = ({ asker, link, place, state }: Situation): string =>
  `${asker}, ${link.reach} ${link.role}, ${place}, ${state}`;

/** Documents in every situation, and people who ask for them. */
export interface Stage {
  readonly people: ReadonlyMap<Asker, Person>;
  /** A document that all who may move something may move it to. */
  readonly shelf: string;
  /** The document of a situation, which all askers share. */
  shared(situation: Situation): Promise<string>;
  /** One like it, which nobody else asks for. */
  own(situation: Situation): Promise<string>;
}

const LONG_AGO_MS = 100 * 24 * 60 * 60 * 1000;

export async function setStage({ deps }: TestDeps): Promise<Stage> {
  const people = new Map<Asker, Person>();
  for (const asker of askers) if (asker !== "anonymous") people.set(asker, await person(deps, asker));
  const now = deps.clock.now();
  const at = new Date(now).toISOString();
  const members = askers.flatMap((asker) => {
    const [user, { role }] = [people.get(asker)?.id, asksAs(asker)];
    return user === undefined || role === null ? [] : [{ user, role }];
  });

  const documentOf = (id: string, more: Partial<StoredDocument>): Write => {
    const item: StoredDocument = {
      ...{ ...documentKey(id), id, title: "Notes", excerpt: null, link_reach: "restricted" },
      ...{ link_role: "reader", creator: null, duplicated_from: null, created_at: at, updated_at: at },
      ...{ deleted_at: null, parent: null, order: "a0", segment: id.slice(0, 7), chain: [], place: 1 },
      ...{ height: 1, numchild: 0, accesses: 0, owners: 0, revision: 1, ...more },
    };
    return { op: "put", table: documentsTable, item };
  };
  const grants = (document: string): Write[] =>
    members.flatMap(({ user, role }): Write[] => {
      const id = accessId(document, { user });
      const access = { ...accessKey(document, id), id, document, user, team: null, role };
      const relation = { ...relationKey(user, document), document, role, since: at };
      return [
        { op: "put", table: accessesTable, item: { ...access, created_at: at, revision: 1 } },
        { op: "put", table: relationsTable, item: relation },
      ];
    });
  const counted = { accesses: members.length, owners: 1 };
  const linked = ({ reach, role }: Link) => ({ link_reach: reach, link_role: role });

  const make = async ({ place, state, link }: Scene): Promise<string> => {
    const id = deps.ids.random();
    const parent = place === "root" ? null : deps.ids.random();
    const isInherited = place === "inherited";
    const shared = { ...linked(link), ...counted };
    const deleted_at = {
      live: null,
      below: null,
      deleted: at,
      gone: new Date(now - LONG_AGO_MS).toISOString(),
    };
    const maker = people.get("maker")?.id ?? null;
    const trace = people.get("link-only")?.id ?? "";
    const writes: Write[] = [
      documentOf(id, {
        ...{ parent, chain: parent === null ? [] : [parent], deleted_at: deleted_at[state], creator: maker },
        ...(isInherited ? {} : shared),
      }),
      ...grants(isInherited && parent !== null ? parent : id),
      {
        op: "update",
        table: relationsTable,
        key: relationKey(trace, id),
        change: { set: { document: id, trace: true } },
      },
    ];
    if (parent !== null) {
      const isChild = deleted_at[state] === null;
      const key = isChild ? { pk: childrenOf(parent), sk: "a0" } : { pk: deletedChildrenOf(parent), sk: id };
      writes.push({ op: "put", table: childrenTable, item: { ...key, id } });
      const mother = { numchild: isChild ? 1 : 0, deleted_at: state === "below" ? at : null };
      writes.push(documentOf(parent, { ...mother, ...(isInherited ? shared : {}) }));
    }
    await write(deps, writes);
    return id;
  };

  const shelf = deps.ids.random();
  await write(deps, [documentOf(shelf, counted), ...grants(shelf)]);
  const made = new Map<string, Promise<string>>();
  const shared = (situation: Situation): Promise<string> => {
    const name = nameOf({ ...situation, asker: "none" });
    const id = made.get(name) ?? make(situation);
    made.set(name, id);
    return id;
  };
  return { people, shelf, shared, own: make };
}
