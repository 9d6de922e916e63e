import type { Link } from "../documents/access/links.ts";
import type { Role } from "../documents/access/roles.ts";
import {
  accessesTable,
  accessId,
  accessKey,
  relationKey,
  relationsTable,
} from "../documents/tables/accesses.ts";
import {
  childrenOf,
  childrenTable,
  deletedChildrenOf,
  documentKey,
  documentsTable,
  type StoredDocument,
} from "../documents/tables/documents.ts";
import { initialOrders } from "../documents/tree/siblings.ts";
import type { Write } from "../platform/tables.ts";
import { type Belongings, contentHead, layBytes, planBelongings } from "./test-belongings.ts";
import type { TestDeps } from "./test-deps.ts";
import { type Person, person, write } from "./test-documents.ts";
import { type Asker, askers, asksAs, nameOf, type Scene, type Situation } from "./test-situations.ts";

/** Who plays a part in every scene and asks for nothing: a commenter of the document itself, wherever it lies. */
export type Player = Asker | "guest";

/** Documents in every situation, and people who ask for them. */
export interface Stage {
  /** All but the anonymous one. */
  readonly people: ReadonlyMap<Player, Person>;
  /** A document that all who may move something may move it to. */
  readonly shelf: string;
  /** Ids of the shelf and of all documents that `shared` has made, with those that they lie in. */
  readonly documents: ReadonlySet<string>;
  /** The document of a situation, which all askers share, with everything that belongs to one. */
  shared(situation: Situation): Promise<string>;
  /** One like it, which nobody else asks for, with what is asked for alone. */
  own(situation: Situation, belongings?: readonly Belongings[]): Promise<string>;
}

/** Documents of a stage at most: each has a key of its own. */
const DOCUMENTS_MAX = 10_000;
const LONG_AGO_MS = 100 * 24 * 60 * 60 * 1000;
const EVERYTHING: readonly Belongings[] = ["content", "threads", "sharing"];

export async function setStage({ deps }: Pick<TestDeps, "deps">): Promise<Stage> {
  const people = new Map<Player, Person>();
  for (const player of [...askers, "guest"] as const)
    if (player !== "anonymous") people.set(player, await person(deps, player));
  const idOf = (player: Player): string => people.get(player)?.id ?? "";
  const uploaderOf = (asker: Asker) => ({ asker, user: people.get(asker)?.id ?? "anonymous" });
  const now = deps.clock.now();
  const at = new Date(now).toISOString();
  const members = askers.flatMap((asker) => {
    const { role } = asksAs(asker);
    return role === null ? [] : [{ user: idOf(asker), role }];
  });

  const orders = initialOrders(DOCUMENTS_MAX)[Symbol.iterator]();
  const documentOf = (id: string, more: Partial<StoredDocument>): Write[] => {
    const parent = more.parent ?? null;
    const order = orders.next().value ?? "";
    const pk = more.deleted_at != null && parent !== null ? deletedChildrenOf(parent) : childrenOf(parent);
    const sk = pk === childrenOf(parent) ? order : id;
    const item: StoredDocument = {
      ...{ ...documentKey(id), id, title: "Notes", excerpt: null, link_reach: "restricted" },
      ...{ link_role: "reader", creator: null, duplicated_from: null, created_at: at, updated_at: at },
      ...{ deleted_at: null, parent: null, order, chain: [], position_version: 1 },
      ...{ height: 1, numchild: 0, accesses: 0, owners: 0, revision: 1, ...more },
    };
    return [
      { op: "put", table: documentsTable, item },
      { op: "put", table: childrenTable, item: { pk, sk, id } },
    ];
  };
  const grant = (document: string, user: string, role: Role): Write[] => {
    const id = accessId(document, { user });
    const access = { ...accessKey(document, id), id, document, user, team: null, role };
    const relation = { ...relationKey(user, document), document, role, since: at };
    return [
      { op: "put", table: accessesTable, item: { ...access, created_at: at, revision: 1 } },
      { op: "put", table: relationsTable, item: relation },
    ];
  };
  const grants = (document: string): Write[] =>
    members.flatMap(({ user, role }) => grant(document, user, role));
  const counted = { accesses: members.length, owners: 1 };
  const linked = ({ reach, role }: Link) => ({ link_reach: reach, link_role: role });

  const make = async (
    { place, state, link }: Scene,
    belongings: readonly Belongings[],
    asker?: Asker,
  ): Promise<readonly string[]> => {
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
    const maker = idOf("maker");
    const hasContent = belongings.includes("content");
    const writes: Write[] = [
      ...documentOf(id, {
        ...{ parent, chain: parent === null ? [] : [parent], deleted_at: deleted_at[state], creator: maker },
        ...(isInherited ? { accesses: 1 } : { ...shared, accesses: counted.accesses + 1 }),
        ...(hasContent ? { content: contentHead(at) } : {}),
      }),
      ...grants(isInherited && parent !== null ? parent : id),
      ...grant(id, idOf("guest"), "commenter"),
      {
        op: "update",
        table: relationsTable,
        key: relationKey(idOf("link-only"), id),
        change: { set: { document: id, trace: true } },
      },
    ];
    if (parent !== null) {
      const isChild = deleted_at[state] === null;
      const mother = { numchild: isChild ? 1 : 0, deleted_at: state === "below" ? at : null };
      writes.push(...documentOf(parent, { ...mother, ...(isInherited ? shared : {}) }));
    }
    await write(deps, writes);
    const more = planBelongings(id, at, people, belongings);
    if (more.length > 0) await write(deps, more);
    await layBytes(deps, id, belongings, asker && uploaderOf(asker));
    return parent === null ? [id] : [id, parent];
  };

  const shelf = deps.ids.random();
  await write(deps, [...documentOf(shelf, counted), ...grants(shelf)]);
  const documents = new Set([shelf]);
  const made = new Map<string, Promise<string>>();
  const first = async (scene: Scene): Promise<string> => {
    const ids = await make(scene, EVERYTHING);
    for (const id of ids) documents.add(id);
    return ids[0] ?? "";
  };
  const shared = (situation: Situation): Promise<string> => {
    const name = nameOf({ ...situation, asker: "none" });
    const id = made.get(name) ?? first(situation);
    made.set(name, id);
    return id;
  };
  const own = async (situation: Situation, belongings: readonly Belongings[] = []): Promise<string> =>
    (await make(situation, belongings, situation.asker))[0] ?? "";
  return { people, shelf, documents, shared, own };
}
