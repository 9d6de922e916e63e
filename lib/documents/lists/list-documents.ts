import {
  isPastCutoff,
  type Seen,
  type SeenDeps,
  seenAll,
  type Viewer,
} from "../authorization/document-access.ts";
import type { FeedDeps } from "../changes/change-feed.ts";
import { DAY_MS } from "../settings.ts";
import type { StoredRelation } from "../tables/accesses.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import type { StoredUser } from "../tables/users.ts";
import { deletedSince, isBelow, isLive, type Known, type KnownDocuments } from "./document-index.ts";
import {
  type Filters,
  fitting,
  highestOf,
  isMember,
  keptAs,
  type Ordering,
  ordered,
  sortRows,
  within,
} from "./filter-and-sort.ts";
import type { DocumentLists, Library, Rows } from "./list-cache.ts";

export type ListDeps = SeenDeps & FeedDeps & { readonly documentLists: DocumentLists };

export interface PageAsked {
  readonly offset: number;
  readonly limit: number;
}

/** Documents of a page as the viewer stands to them, and how many there are on all pages. */
export interface DocumentPage {
  readonly count: number;
  readonly seen: readonly Seen[];
  /** Of these documents and all that they lie in. */
  readonly relations: ReadonlyMap<string, StoredRelation>;
}

const EMPTY: DocumentPage = { count: 0, seen: [], relations: new Map() };
const NEWEST: Ordering = "-updated_at";
/** Looks at a list that changes while its page is read. */
const LOOKS_MAX = 4;

/**
 * Documents that the viewer was let into, the highest of each tree: by a role of their own, or by a link that they
 * followed and that still lets them in. Nobody without a name has any. Reference 1.2.
 */
export function listDocuments(
  deps: ListDeps,
  viewer: Viewer,
  asked: PageAsked & Filters & { readonly ordering?: Ordering | undefined },
): Promise<DocumentPage> {
  return pageOf(deps, viewer, asked, async (user, { known, rowsOf }) => {
    const rows = await rowsOf(user.id);
    sortRows(known, rows, asked.ordering ?? NEWEST);
    return highestOf(known, rows, fitting(user.id, asked)).filter(keptAs(rows, asked));
  });
}

/** Likewise with all that lies in them. Reference 1.2. */
export function listAll(
  deps: ListDeps,
  viewer: Viewer,
  asked: PageAsked & Filters & { readonly ordering?: Ordering | undefined },
): Promise<DocumentPage> {
  return pageOf(deps, viewer, asked, async (user, library) => {
    const rows = await library.rowsOf(user.id);
    const fits = fitting(user.id, asked);
    const isKept = keptAs(rows, asked);
    const found = await reachedBy(deps, library, rows, asked.ordering ?? NEWEST);
    return found.filter((known) => fits(known) && isKept(known));
  });
}

/** Favorites in what the viewer was let into, changed last first. Reference 1.2; seed: documents 3. */
export function listFavorites(deps: ListDeps, viewer: StoredUser, asked: PageAsked): Promise<DocumentPage> {
  return pageOf(deps, viewer, asked, async (user, { known, rowsOf }) => {
    const rows = await rowsOf(user.id);
    sortRows(known, rows, NEWEST);
    const mark = known.newMark();
    for (const row of rows.all) if (row.known !== undefined && isMember(row)) row.known.mark = mark;
    return rows.all.flatMap(({ known: document, favorite }) =>
      favorite && document !== undefined && isLive(document, known.version) && isMarked(document, mark)
        ? [document]
        : [],
    );
  });
}

const isMarked = (document: Known, mark: number): boolean =>
  document.mark === mark || isBelow(document, mark);

/** What was itself deleted of that which the viewer owns and can still bring back, deleted last first. Reference 1.2. */
export function listTrash(
  deps: ListDeps,
  viewer: Viewer,
  asked: PageAsked & { readonly ordering?: "deleted_at" | "-deleted_at" | undefined },
): Promise<DocumentPage> {
  const isShown = (seen: Seen): boolean =>
    seen.abilities.retrieve && seen.document.deleted_at !== null && !isPastCutoff(deps, seen.deletedAt ?? "");
  const work: Choose = async (user, library) => {
    const { all } = await library.rowsOf(user.id);
    const owned = all.flatMap(({ known, role }) => (known !== undefined && role === "owner" ? [known] : []));
    const since = deps.clock.now() - deps.documents.trashbinCutoffDays * DAY_MS;
    const found = await reached(deps, library.known, owned, { deleted: true });
    const way = asked.ordering === "deleted_at" ? 1 : -1;
    return found
      .filter((known) => known.deletedAt !== null && (deletedSince(known) ?? 0) >= since)
      .sort(
        (one, other) => way * ((one.deletedAt ?? 0) - (other.deletedAt ?? 0) || (one.id < other.id ? -1 : 1)),
      );
  };
  return pageOf(deps, viewer, asked, work, isShown);
}

/** All that the viewer was let into, with what lies in it. */
export async function reachedBy(
  deps: ListDeps,
  { known }: Library,
  rows: Rows,
  ordering: Ordering,
): Promise<readonly Known[]> {
  const { version } = known;
  const { found } = rows;
  const kept = found.reached?.version === version ? found.reached : undefined;
  if (kept?.ordering === ordering) return kept.documents;
  const documents = kept?.documents ?? (await reached(deps, known, highestOf(known, rows)));
  documents.sort(ordered(ordering));
  found.reached = { version, ordering, documents };
  return documents;
}

/** Documents with all that lies in them, once that is known. */
export async function reached(
  deps: ListDeps,
  known: KnownDocuments,
  tops: readonly Known[],
  how: Parameters<typeof within>[2] = {},
): Promise<Known[]> {
  for (;;) {
    const { found, unknown } = within(known, tops, how);
    if (unknown.length === 0) return [...found];
    await known.loadChildren(deps, unknown, how.deleted === true);
  }
}

type Choose = (user: StoredUser, library: Library) => Promise<readonly Known[]>;

function pageOf(
  deps: ListDeps,
  viewer: Viewer,
  asked: PageAsked,
  choose: Choose,
  isShown?: (seen: Seen) => boolean,
): Promise<DocumentPage> {
  if (viewer === undefined) return Promise.resolve(EMPTY);
  return readPage(deps, viewer, asked, (library) => choose(viewer, library), isShown);
}

/**
 * A page of documents that were chosen, read as the detail of each would read them. Where one of them is not to be
 * shown any more, the list has changed since, and is looked at again.
 */
export async function readPage(
  deps: ListDeps,
  viewer: Viewer,
  { offset, limit }: PageAsked,
  choose: (library: Library) => Promise<readonly Known[]>,
  isShown: (seen: Seen) => boolean = isSeen,
): Promise<DocumentPage> {
  for (let look = 1; ; look += 1) {
    const { count, ids } = await deps.documentLists.look(deps, async (library) => {
      const chosen = await choose(library);
      return { count: chosen.length, ids: chosen.slice(offset, offset + limit).map(({ id }) => id) };
    });
    const documents = await deps.tables.batchGet(documentsTable, ids.map(documentKey));
    const { seen, relations } = await seenAll(deps, viewer, documents);
    const shown = seen.filter(isShown);
    if (shown.length === ids.length || look === LOOKS_MAX) return { count, seen: shown, relations };
  }
}

const isSeen = ({ abilities, deletedAt }: Seen): boolean => abilities.retrieve && deletedAt === null;
