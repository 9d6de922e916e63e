import type { PageRequest } from "../../http/page.ts";
import {
  type AuthorizationDeps,
  type DocumentAccess,
  isPastTrashCutoff,
  resolveAccesses,
  type Viewer,
} from "../authorization/document-access.ts";
import type { FeedDeps } from "../changes/change-feed.ts";
import type { StoredRelation } from "../tables/accesses.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import type { StoredUser } from "../tables/users.ts";
import {
  type DocumentIndex,
  findDeletionTime,
  hasVisitedAncestor,
  type IndexedDocument,
  isLive,
} from "./document-index.ts";
import {
  collectSubtrees,
  compareBy,
  type Filters,
  findTopmost,
  isMember,
  matchesFilters,
  matchesFlags,
  type Ordering,
  sortRows,
} from "./filter-and-sort.ts";
import type { DocumentLists, ListSnapshot, UserRelations } from "./list-cache.ts";

export type ListDeps = AuthorizationDeps & FeedDeps & { readonly documentLists: DocumentLists };

/** A page of documents with the viewer's access, and the total count. */
export interface DocumentPage {
  readonly count: number;
  readonly accesses: readonly DocumentAccess[];
  /** Relations to these documents and their ancestors. */
  readonly relations: ReadonlyMap<string, StoredRelation>;
}

const EMPTY: DocumentPage = { count: 0, accesses: [], relations: new Map() };
const NEWEST: Ordering = "-updated_at";
/** Maximum reads of a page of a list that changes meanwhile. */
const READS_MAX = 4;

/**
 * Lists the topmost documents that the viewer can reach by a role, or by a link that they opened and that is still
 * open. Empty for anonymous viewers. Reference 1.2.
 */
export function listDocuments(
  deps: ListDeps,
  viewer: Viewer,
  asked: PageRequest & Filters & { readonly ordering?: Ordering | undefined },
): Promise<DocumentPage> {
  return readViewerPage(deps, viewer, asked, async (user, { index, rowsOf }) => {
    const rows = await rowsOf(user.id);
    sortRows(index, rows, asked.ordering ?? NEWEST);
    return findTopmost(index, rows, matchesFilters(user.id, asked)).filter(matchesFlags(rows, asked));
  });
}

/** Lists all documents that the viewer can reach, with descendants. Reference 1.2. */
export function listAll(
  deps: ListDeps,
  viewer: Viewer,
  asked: PageRequest & Filters & { readonly ordering?: Ordering | undefined },
): Promise<DocumentPage> {
  return readViewerPage(deps, viewer, asked, async (user, snapshot) => {
    const rows = await snapshot.rowsOf(user.id);
    const fits = matchesFilters(user.id, asked);
    const isKept = matchesFlags(rows, asked);
    const found = await readReachable(deps, snapshot, rows, asked.ordering ?? NEWEST);
    return found.filter((document) => fits(document) && isKept(document));
  });
}

/** Lists the viewer's reachable favorites, last updated first. Reference 1.2; seed: documents 3. */
export function listFavorites(deps: ListDeps, viewer: StoredUser, asked: PageRequest): Promise<DocumentPage> {
  return readViewerPage(deps, viewer, asked, async (user, { index, rowsOf }) => {
    const rows = await rowsOf(user.id);
    sortRows(index, rows, NEWEST);
    const visit = index.newVisit();
    for (const row of rows.all) if (row.document !== undefined && isMember(row)) row.document.visit = visit;
    return rows.all.flatMap(({ document, favorite }) =>
      favorite &&
      document !== undefined &&
      isLive(document, index.version) &&
      isVisitedOrBelow(document, visit)
        ? [document]
        : [],
    );
  });
}

const isVisitedOrBelow = (document: IndexedDocument, visit: number): boolean =>
  document.visit === visit || hasVisitedAncestor(document, visit);

/** Lists documents in the trash that the viewer owns and can restore, last deleted first. Reference 1.2. */
export function listTrash(
  deps: ListDeps,
  viewer: Viewer,
  asked: PageRequest & { readonly ordering?: "deleted_at" | "-deleted_at" | undefined },
): Promise<DocumentPage> {
  const isShown = (access: DocumentAccess): boolean =>
    access.abilities.retrieve &&
    access.document.deleted_at !== null &&
    !isPastTrashCutoff(deps, access.deletedAt ?? "");
  const work: SelectDocuments = async (user, snapshot) => {
    const { all } = await snapshot.rowsOf(user.id);
    const owned = all.flatMap(({ document, role }) =>
      document !== undefined && role === "owner" ? [document] : [],
    );
    const since = deps.clock.now() - deps.documents.trashbinCutoffMs;
    const found = await readSubtrees(deps, snapshot.index, owned, { deleted: true });
    const way = asked.ordering === "deleted_at" ? 1 : -1;
    return found
      .filter((document) => document.deletedAt !== null && (findDeletionTime(document) ?? 0) >= since)
      .sort(
        (one, other) => way * ((one.deletedAt ?? 0) - (other.deletedAt ?? 0) || (one.id < other.id ? -1 : 1)),
      );
  };
  return readViewerPage(deps, viewer, asked, work, isShown);
}

/** Returns all documents that the viewer can reach, with descendants. */
export async function readReachable(
  deps: ListDeps,
  { index }: ListSnapshot,
  rows: UserRelations,
  ordering: Ordering,
): Promise<readonly IndexedDocument[]> {
  const { version } = index;
  const { cached: found } = rows;
  const kept = found.reached?.version === version ? found.reached : undefined;
  if (kept?.ordering === ordering) return kept.documents;
  const unsorted = kept?.documents ?? (await readSubtrees(deps, index, findTopmost(index, rows)));
  // A new array: the full-text index keeps what it knows of the texts with an array.
  const documents = unsorted.toSorted(compareBy(ordering));
  found.reached = { version, ordering, documents };
  return documents;
}

/** Returns documents with all descendants and loads missing ones. */
export async function readSubtrees(
  deps: ListDeps,
  index: DocumentIndex,
  tops: readonly IndexedDocument[],
  how: Parameters<typeof collectSubtrees>[2] = {},
): Promise<IndexedDocument[]> {
  for (;;) {
    const { found, unknown } = collectSubtrees(index, tops, how);
    if (unknown.length === 0) return [...found];
    await index.loadChildren(deps, unknown, how.deleted === true);
  }
}

type SelectDocuments = (user: StoredUser, snapshot: ListSnapshot) => Promise<readonly IndexedDocument[]>;

function readViewerPage(
  deps: ListDeps,
  viewer: Viewer,
  asked: PageRequest,
  choose: SelectDocuments,
  isShown?: (access: DocumentAccess) => boolean,
): Promise<DocumentPage> {
  if (viewer === undefined) return Promise.resolve(EMPTY);
  return readPage(deps, viewer, asked, (snapshot) => choose(viewer, snapshot), isShown);
}

/**
 * Reads a page of selected documents like single documents. If one of them is no longer visible, the list has changed
 * and is selected again.
 */
export async function readPage(
  deps: ListDeps,
  viewer: Viewer,
  { offset, limit }: PageRequest,
  choose: (snapshot: ListSnapshot) => Promise<readonly IndexedDocument[]>,
  isShown: (access: DocumentAccess) => boolean = isReadable,
): Promise<DocumentPage> {
  for (let reads = 1; ; reads += 1) {
    const { count, ids } = await deps.documentLists.read(deps, async (snapshot) => {
      const chosen = await choose(snapshot);
      return { count: chosen.length, ids: chosen.slice(offset, offset + limit).map(({ id }) => id) };
    });
    const documents = await deps.tables.batchGet(documentsTable, ids.map(documentKey));
    const { accesses, relations } = await resolveAccesses(deps, viewer, documents);
    const shown = accesses.filter(isShown);
    if (shown.length === ids.length || reads === READS_MAX) return { count, accesses: shown, relations };
  }
}

const isReadable = ({ abilities, deletedAt }: DocumentAccess): boolean =>
  abilities.retrieve && deletedAt === null;
