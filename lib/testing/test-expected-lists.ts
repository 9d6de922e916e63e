import { relationsTable } from "../documents/tables/accesses.ts";
import {
  childrenOf,
  childrenTable,
  deletedChildrenOf,
  type StoredDocument,
} from "../documents/tables/documents.ts";
import { readAll } from "../events/read-all.ts";
import type { TestDeps } from "./test-deps.ts";
import { readDocument } from "./test-documents.ts";
import type { SharingScenario, User } from "./test-sharing-scenario.ts";

/** A document as in its own response and in lists. */
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

/** The filters of a list. */
export interface ListFilter {
  readonly title?: string;
  readonly is_creator_me?: boolean;
  readonly is_favorite?: boolean;
  readonly is_masked?: boolean;
}

/** All documents that a user can open, and the expected lists by the rules of the reference. Reference 1.2, 1.4. */
export interface ExpectedLists {
  readonly pages: ReadonlyMap<string, Page>;
  list(narrowed?: ListFilter): readonly string[];
  all(narrowed?: ListFilter): readonly string[];
  favorites(): readonly string[];
  trash(): readonly string[];
  /** A readable document and its readable descendants. */
  search(id: string, title: string): readonly string[];
  /** The highest readable ancestor of a document; null if there is none. */
  highestAncestor(id: string): string | null;
}

/** Every document of the scenario, including copies of descendants. */
export async function readAllDocuments(
  { deps }: Pick<TestDeps, "deps">,
  { ids }: SharingScenario,
): Promise<ReadonlyMap<string, StoredDocument>> {
  const found = new Map<string, StoredDocument>();
  const visit = async (id: string): Promise<void> => {
    if (found.has(id)) return;
    found.set(id, await readDocument(deps, id));
    for (const pk of [childrenOf(id), deletedChildrenOf(id)])
      for (const child of await readAll(deps, childrenTable, { pk })) await visit(child.id);
  };
  for (const id of ids) await visit(id);
  return found;
}

/** Opens every document. Query lists before, because opening a document records the visit. */
export async function openAllDocuments(
  { deps }: Pick<TestDeps, "deps">,
  world: SharingScenario,
  who: User,
): Promise<ExpectedLists> {
  const user = world.users.get(who)?.id ?? "";
  const documents = await readAllDocuments({ deps }, world);
  const rows = new Map(
    (await readAll(deps, relationsTable, { pk: user })).map((row) => [row.document, row] as const),
  );
  const pages = new Map<string, Page>();
  for (const id of documents.keys()) {
    const { status, json } = await world.request("GET /documents/{id}", who, { id });
    if (status === 200) pages.set(id, json);
  }

  const pathTo = (id: string): string[] => {
    const parent = documents.get(id)?.parent ?? null;
    return parent === null ? [id] : [...pathTo(parent), id];
  };
  const live = [...pages.values()].filter(({ deleted_at }) => deleted_at === null);
  const isMember = ({ id, link_reach }: Page): boolean => {
    const { role, trace } = rows.get(id) ?? {};
    return role !== undefined || (trace === true && link_reach !== "restricted");
  };
  const members = new Set(live.filter(isMember).map(({ id }) => id));
  const everything = live.filter(({ id }) => pathTo(id).some((above) => members.has(above)));
  const matches = (page: Page, { title, is_creator_me }: ListFilter): boolean =>
    (title === undefined || page.title.toLowerCase().includes(title)) &&
    (is_creator_me === undefined || (page.creator === user) === is_creator_me);
  const matchesMarks = ({ id, is_favorite }: Page, narrowed: ListFilter): boolean =>
    (narrowed.is_favorite === undefined || is_favorite === narrowed.is_favorite) &&
    (narrowed.is_masked === undefined || (rows.get(id)?.masked === true) === narrowed.is_masked);
  const idsOf = (some: readonly Page[]): string[] => some.map(({ id }) => id);
  return {
    pages,
    list: (narrowed = {}) => {
      const fitting = everything.filter((page) => members.has(page.id) && matches(page, narrowed));
      const among = new Set(idsOf(fitting));
      const highest = fitting.filter(({ id }) =>
        pathTo(id).every((above) => above === id || !among.has(above)),
      );
      return idsOf(highest.filter((page) => matchesMarks(page, narrowed)));
    },
    all: (narrowed = {}) =>
      idsOf(everything.filter((page) => matches(page, narrowed) && matchesMarks(page, narrowed))),
    favorites: () => idsOf(everything.filter(({ is_favorite }) => is_favorite)),
    trash: () =>
      [...pages.values()]
        .filter(({ id, user_role }) => user_role === "owner" && documents.get(id)?.deleted_at !== null)
        .map(({ id }) => id),
    search: (id, title) =>
      idsOf(live.filter((page) => pathTo(page.id).includes(id) && matches(page, { title }))),
    highestAncestor: (id) => pathTo(id).find((above) => above !== id && pages.has(above)) ?? null,
  };
}
