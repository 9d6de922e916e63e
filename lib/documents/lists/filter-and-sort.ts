import { fold } from "../fold.ts";
import { type DocumentIndex, hasVisitedAncestor, type IndexedDocument, isLive } from "./document-index.ts";
import type { RelationRow, UserRelations } from "./list-cache.ts";

/** Filters of a list. Reference 1.2. */
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

/** Whether the user has a role on the document, or opened its link and the link is still open. */
export const isMember = ({ document, role, trace }: RelationRow): boolean =>
  document !== undefined && (role !== undefined || (trace && document.isOpen));

type Matches = (document: IndexedDocument) => boolean;
const EVERY: Matches = () => true;
type Compare<Item> = (one: Item, other: Item) => number;

/** Creates a filter by title, and by creator if given. */
export function matchesFilters(user: string | undefined, { title, q, is_creator_me }: Filters): Matches {
  const needles = [title, q].flatMap((text) => (text === undefined || text === "" ? [] : [fold(text)]));
  if (needles.length === 0 && is_creator_me === undefined) return EVERY;
  return (document) =>
    needles.every((needle) => document.title?.includes(needle) === true) &&
    (is_creator_me === undefined || (document.creator === user) === is_creator_me);
}

/** Creates a filter by favorite and masked. */
export function matchesFlags(rows: UserRelations, { is_favorite, is_masked }: Filters): Matches {
  if (is_favorite === undefined && is_masked === undefined) return EVERY;
  return ({ id }) => {
    const { favorite = false, masked = false } = rows.byDocument.get(id) ?? {};
    return (is_favorite ?? favorite) === favorite && (is_masked ?? masked) === masked;
  };
}

/** Sorts the rows, unless they are sorted already. */
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

/**
 * Returns the reachable documents that match and have no matching ancestor among them, in row order. Reference 1.2.
 */
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
 * Returns documents with all descendants, each once, with siblings in order if requested; and the documents whose
 * children are not loaded. Deleted documents are excluded unless `deleted` is set.
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
  // Documents without a title come last, or first in descending order.
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return compare(one, other);
};
const byId: Compare<IndexedDocument> = (one, other) => compare(one.id, other.id);
const ORDERED: Readonly<Record<string, Compare<IndexedDocument>>> = {
  created_at: (one, other) => one.createdAt - other.createdAt,
  updated_at: (one, other) => one.updatedAt - other.updatedAt,
  title: byTitle,
};

/** Returns a comparison for an ordering. Ties are broken by id. */
export function compareBy(ordering: Ordering): Compare<IndexedDocument> {
  const way = ordering.startsWith("-") ? -1 : 1;
  const by = ORDERED[ordering.replace("-", "")] ?? byId;
  return (one, other) => way * by(one, other) || way * byId(one, other);
}

/** Ranks a match, best first: the whole title, its start, the start of a word, a part. */
export function rankTitle(title: string | null, needle: string): number {
  if (title === null || needle === "") return 4;
  const at = title.indexOf(needle);
  if (at < 0) return 4;
  if (at === 0) return title.length === needle.length ? 0 : 1;
  for (let next = at; next >= 0; next = title.indexOf(needle, next + 1))
    if (!/[\p{L}\p{N}]/u.test(title[next - 1] ?? "")) return 2;
  return 3;
}
