import { relationsTable } from "../documents/tables/accesses.ts";
import {
  childrenOf,
  childrenTable,
  deletedChildrenOf,
  type StoredDocument,
} from "../documents/tables/documents.ts";
import { readAll } from "../events/read-all.ts";
import type { TestDeps } from "./test-deps.ts";
import { stored } from "./test-documents.ts";
import type { User, World } from "./test-world.ts";

/** A document as its own page shows it, and lists do. */
export interface Page {
  readonly id: string;
  readonly title: string;
  readonly creator: string | null;
  readonly user_role: string | null;
  readonly link_reach: string;
  readonly deleted_at: string | null;
  readonly is_favorite: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  readonly [name: string]: unknown;
}

/** What a list is narrowed to. */
export interface Narrowed {
  readonly title?: string;
  readonly is_creator_me?: boolean;
  readonly is_favorite?: boolean;
  readonly is_masked?: boolean;
}

/** All documents that a user can open, and what lists make of them by the words of the reference. Reference 1.2, 1.4. */
export interface Library {
  readonly pages: ReadonlyMap<string, Page>;
  list(narrowed?: Narrowed): readonly string[];
  all(narrowed?: Narrowed): readonly string[];
  favorites(): readonly string[];
  trash(): readonly string[];
  /** What lies in a document that can be read, and itself. */
  within(id: string, title: string): readonly string[];
  /** The highest document above one that can be read; null without one. */
  highestAbove(id: string): string | null;
}

/** Every document of the world, with those that were only copied along with another. */
export async function everyDocument(
  { deps }: Pick<TestDeps, "deps">,
  { ids }: World,
): Promise<ReadonlyMap<string, StoredDocument>> {
  const found = new Map<string, StoredDocument>();
  const visit = async (id: string): Promise<void> => {
    if (found.has(id)) return;
    found.set(id, await stored(deps, id));
    for (const pk of [childrenOf(id), deletedChildrenOf(id)])
      for (const child of await readAll(deps, childrenTable, { pk })) await visit(child.id);
  };
  for (const id of ids) await visit(id);
  return found;
}

/** Opens every document there is: what lists show is to be asked before, as looking leaves a trace. */
export async function openLibrary(
  { deps }: Pick<TestDeps, "deps">,
  world: World,
  who: User,
): Promise<Library> {
  const user = world.users.get(who)?.id ?? "";
  const documents = await everyDocument({ deps }, world);
  const rows = new Map(
    (await readAll(deps, relationsTable, { pk: user })).map((row) => [row.document, row] as const),
  );
  const pages = new Map<string, Page>();
  for (const id of documents.keys()) {
    const { status, json } = await world.ask("GET /documents/{id}", who, { id });
    if (status === 200) pages.set(id, json);
  }

  const lineOf = (id: string): string[] => {
    const parent = documents.get(id)?.parent ?? null;
    return parent === null ? [id] : [...lineOf(parent), id];
  };
  const live = [...pages.values()].filter(({ deleted_at }) => deleted_at === null);
  const isMember = ({ id, link_reach }: Page): boolean => {
    const { role, trace } = rows.get(id) ?? {};
    return role !== undefined || (trace === true && link_reach !== "restricted");
  };
  const members = new Set(live.filter(isMember).map(({ id }) => id));
  const everything = live.filter(({ id }) => lineOf(id).some((above) => members.has(above)));
  const holds = (page: Page, { title, is_creator_me }: Narrowed): boolean =>
    (title === undefined || page.title.toLowerCase().includes(title)) &&
    (is_creator_me === undefined || (page.creator === user) === is_creator_me);
  const isKept = ({ id, is_favorite }: Page, narrowed: Narrowed): boolean =>
    (narrowed.is_favorite === undefined || is_favorite === narrowed.is_favorite) &&
    (narrowed.is_masked === undefined || (rows.get(id)?.masked === true) === narrowed.is_masked);
  const idsOf = (some: readonly Page[]): string[] => some.map(({ id }) => id);
  return {
    pages,
    list: (narrowed = {}) => {
      const fitting = everything.filter((page) => members.has(page.id) && holds(page, narrowed));
      const among = new Set(idsOf(fitting));
      const highest = fitting.filter(({ id }) =>
        lineOf(id).every((above) => above === id || !among.has(above)),
      );
      return idsOf(highest.filter((page) => isKept(page, narrowed)));
    },
    all: (narrowed = {}) =>
      idsOf(everything.filter((page) => holds(page, narrowed) && isKept(page, narrowed))),
    favorites: () => idsOf(everything.filter(({ is_favorite }) => is_favorite)),
    trash: () =>
      [...pages.values()]
        .filter(({ id, user_role }) => user_role === "owner" && documents.get(id)?.deleted_at !== null)
        .map(({ id }) => id),
    within: (id, title) =>
      idsOf(live.filter((page) => lineOf(page.id).includes(id) && holds(page, { title }))),
    highestAbove: (id) => lineOf(id).find((above) => above !== id && pages.has(above)) ?? null,
  };
}
