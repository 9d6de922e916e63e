import { type DocumentIndex, hasVisitedAncestor, type IndexedDocument, isLive } from "./document-index.ts";
import { fold } from "./fold.ts";
import type { RelationRow, UserRelations } from "./list-cache.ts";

/** What a list is narrowed to. Reference 1.2. */
export interface Filters {
  readonly title?: string | undefined;
  readonly q?: string | undefined;
  readonly is_creator_me?: boolean | undefined;
  readonly is_favorite?: boolean | undefined;
  readonly is_masked?: boolean | undefined;
}

export const ORDERINGS = [
  ...(["created_at", "-created_at", "updated_at", "-updated_at", "title", "-title"] as const),
] as const;
export type Ordering = (typeof ORDERINGS)[number];

/** Whether the document is one that a list of its own begins with: a role on it, or a link that was followed and holds. */
export const isMember = ({ document, role, trace }: RelationRow): boolean =>
  document !== undefined && (role !== undefined || (trace && document.isOpen));

type Matches = (document: IndexedDocument) => boolean;
const EVERY: Matches = () => true;
type Compare<Item> = (one: Item, other: Item) => number;

/** Whether a document has all the texts in its title, and was made by the caller where that is asked. */
export function matchesFilters(user: string | undefined, { title, q, is_creator_me }: Filters): Matches {
  const needles = [title, q].flatMap((text) => (text === undefined || text === "" ? [] : [fold(text)]));
  if (needles.length === 0 && is_creator_me === undefined) return EVERY;
  return (document) =>
    needles.every((needle) => document.title?.includes(needle) === true) &&
    (is_creator_me === undefined || (document.creator === user) === is_creator_me);
}

/** Whether a document is a favorite and masked, or neither, as is asked. */
export function matchesFlags(rows: UserRelations, { is_favorite, is_masked }: Filters): Matches {
  if (is_favorite === undefined && is_masked === undefined) return EVERY;
  return ({ id }) => {
    const { favorite = false, masked = false } = rows.byDocument.get(id) ?? {};
    return (is_favorite ?? favorite) === favorite && (is_masked ?? masked) === masked;
  };
}

/** Puts all rows in order, unless they are. */
export function sortRows(
  { version }: DocumentIndex,
  { all, cached: found }: UserRelations,
  ordering: Ordering,
): void {
  if (found.sorted?.version === version && found.sorted.ordering === ordering) return;
  const by = compareBy(ordering);
  all.sort(({ document: one }, { document: other }) => {
    if (one === undefined || other === undefined)
      return Number(one === undefined) - Number(other === undefined);
    return by(one, other);
  });
  found.sorted = { version, ordering };
}

/** Documents in the order of the rows that the caller was let into which fit and lie in no other of them. Reference 1.2. */
export function findTopmost(
  index: DocumentIndex,
  rows: UserRelations,
  fits: Matches = EVERY,
): readonly IndexedDocument[] {
  const { version } = index;
  const { highest, sorted } = rows.cached;
  if (fits === EVERY && highest?.version === version && highest.sorted === sorted) return highest.documents;
  const visit = index.newVisit();
  const members: IndexedDocument[] = [];
  for (const row of rows.all) {
    const document = row.document;
    if (document === undefined || !isMember(row) || !fits(document) || !isLive(document, version)) continue;
    document.visit = visit;
    members.push(document);
  }
  const documents = members.filter((document) => !hasVisitedAncestor(document, visit));
  if (fits === EVERY) rows.cached.highest = { version, sorted, documents };
  return documents;
}

/**
 * The documents with all that lies in them, each once, siblings in their order where that is asked; and those of which
 * it is not known yet what lies in them. What was deleted is left out unless `deleted` says otherwise.
 */
export function collectSubtrees(
  index: DocumentIndex,
  tops: Iterable<IndexedDocument>,
  { deleted = false, inOrder = false }: { readonly deleted?: boolean; readonly inOrder?: boolean } = {},
): { readonly found: readonly IndexedDocument[]; readonly unknown: readonly IndexedDocument[] } {
  const visit = index.newVisit();
  const found: IndexedDocument[] = [];
  const unknown: IndexedDocument[] = [];
  const collect = (document: IndexedDocument): void => {
    if (document.visit === visit || (!deleted && document.deletedAt !== null)) return;
    document.visit = visit;
    found.push(document);
    if (!document.hasLive || (deleted && !document.hasDeleted)) unknown.push(document);
    if (inOrder && document.children.size > 1) [...document.children].sort(compareSiblings).forEach(collect);
    else document.children.forEach(collect);
  };
  for (const top of tops) collect(top);
  return { found, unknown };
}

export const compareSiblings: Compare<IndexedDocument> = (one, other) => compare(one.order, other.order);
const compare = (one: string, other: string): number => {
  if (one === other) return 0;
  return one < other ? -1 : 1;
};
const byTitle: Compare<IndexedDocument> = ({ title: one }, { title: other }) => {
  // What has no title comes last, and first the other way round.
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return compare(one, other);
};
const byId: Compare<IndexedDocument> = (one, other) => compare(one.id, other.id);
const ORDERED: Readonly<Record<string, Compare<IndexedDocument>>> = {
  created_at: (one, other) => one.createdAt - other.createdAt,
  updated_at: (one, other) => one.updatedAt - other.updatedAt,
  title: byTitle,
};

/** How documents are put in order; of those that come to the same, the order is the same always. */
export function compareBy(ordering: Ordering): Compare<IndexedDocument> {
  const way = ordering.startsWith("-") ? -1 : 1;
  const by = ORDERED[ordering.replace("-", "")] ?? byId;
  return (one, other) => way * by(one, other) || way * byId(one, other);
}

/** How well a title fits, best first: all of it, its beginning, the beginning of a word, a part. */
export function rankTitle(title: string | null, needle: string): number {
  if (title === null || needle === "") return 4;
  const at = title.indexOf(needle);
  if (at < 0) return 4;
  if (at === 0) return title.length === needle.length ? 0 : 1;
  for (let next = at; next >= 0; next = title.indexOf(needle, next + 1))
    if (!/[\p{L}\p{N}]/u.test(title[next - 1] ?? "")) return 2;
  return 3;
}
