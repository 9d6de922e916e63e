import { ApiError } from "../../errors.ts";
import type { Key } from "../../platform/tables.ts";
import { isPastCutoff, type Seen, seenBy, seenWith, type Viewer } from "../authorization/document-access.ts";
import { type ChildItem, childrenOf, childrenTable } from "../tables/documents.ts";
import { type Placed, pathOf, readPlaced } from "../tree/ancestors.ts";
import { isWithin } from "../tree/move-target.ts";
import { SEGMENT_LENGTH } from "../tree/path-segment.ts";
import { fitting, type Ordering, rankOf } from "./filter-and-sort.ts";
import { fold } from "./fold.ts";
import {
  type DocumentPage,
  type ListDeps,
  type PageAsked,
  reached,
  reachedBy,
  readPage,
} from "./list-documents.ts";

export interface SearchAsked extends PageAsked {
  /** Part of the title; everything fits what is empty. */
  readonly q: string;
  readonly title?: string | undefined;
  /** Search in this one and what lies in it, by its id or its path; the id is taken where there are both. */
  readonly document?: string | undefined;
  readonly path?: string | undefined;
  /** Those that fit best first without it; in a document, always the order of its tree. */
  readonly ordering?: Ordering | undefined;
}

/** A document that was found, with the highest one that it lies in and the viewer may read. */
export interface Found {
  readonly seen: Seen;
  readonly parent: Seen | undefined;
}

/**
 * Documents by their titles: all that the viewer was let into with what lies in it, or one document with what lies in
 * it. Throws `not_found` where that is not there, `forbidden` where the viewer, signed in or not, may not search in it.
 * Reference 1.4.
 */
export async function searchDocuments(
  deps: ListDeps,
  viewer: Viewer,
  asked: SearchAsked,
): Promise<{ readonly count: number; readonly found: readonly Found[] }> {
  const scope = await scopeOf(deps, viewer, asked);
  const page =
    scope === undefined ? await searchAll(deps, viewer, asked) : await searchIn(deps, viewer, asked, scope);
  const { count, seen, relations } = page;
  const parentOf = (one: Seen): Seen | undefined => {
    const { ancestors } = one;
    for (const [at, document] of ancestors.entries()) {
      const above = seenWith(deps, viewer, { document, ancestors: ancestors.slice(0, at) }, relations);
      if (above.abilities.retrieve) return above;
    }
    return undefined;
  };
  return { count, found: seen.map((one) => ({ seen: one, parent: parentOf(one) })) };
}

async function searchAll(deps: ListDeps, viewer: Viewer, asked: SearchAsked): Promise<DocumentPage> {
  if (viewer === undefined) return { count: 0, seen: [], relations: new Map() };
  const { q, title, ordering } = asked;
  return readPage(deps, viewer, asked, async (library) => {
    const rows = await library.rowsOf(viewer.id);
    const reached = await reachedBy(deps, library, rows, ordering ?? "-updated_at");
    const found = reached.filter(fitting(viewer.id, { q, title }));
    if (ordering !== undefined || q === "") return found;
    const needle = fold(q);
    const ranked = found.map((known) => ({ known, rank: rankOf(known.title, needle) }));
    return ranked.sort((one, other) => one.rank - other.rank).map(({ known }) => known);
  });
}

async function searchIn(
  deps: ListDeps,
  viewer: Viewer,
  asked: SearchAsked,
  scope: string,
): Promise<DocumentPage> {
  const isShown = (seen: Seen): boolean =>
    seen.abilities.retrieve && seen.deletedAt === null && isWithin(seen, scope);
  const { q, title } = asked;
  return readPage(
    deps,
    viewer,
    asked,
    async ({ known }) => {
      await known.load(deps, [scope]);
      const top = known.get(scope);
      const found = top === undefined ? [] : await reached(deps, known, [top], { inOrder: true });
      return found.filter(fitting(viewer?.id, { q, title }));
    },
    isShown,
  );
}

/** The id of the document that is searched in; undefined where all are. */
async function scopeOf(
  deps: ListDeps,
  viewer: Viewer,
  { document, path }: SearchAsked,
): Promise<string | undefined> {
  if (document === undefined && path === undefined) return undefined;
  const place = document === undefined ? await placeAt(deps, path ?? "") : await readPlaced(deps, document);
  const nothing = new ApiError(
    "not_found",
    `Document not found${document === undefined ? " from path" : ""}.`,
  );
  if (place === undefined) throw nothing;
  const { abilities, role, deletedAt } = await seenBy(deps, viewer, place);
  if (deletedAt !== null && (role !== "owner" || isPastCutoff(deps, deletedAt))) throw nothing;
  if (abilities.search) return place.document.id;
  throw new ApiError("forbidden", "You do not have permission to search within this document.");
}

const PATH = /^(?:[0-9A-Z]{7}){1,36}$/;

/** The document whose path this is now. */
async function placeAt(deps: ListDeps, path: string): Promise<Placed | undefined> {
  if (!PATH.test(path)) return undefined;
  let id: string | null = null;
  for (let at = 0; at < path.length; at += SEGMENT_LENGTH) {
    const key: Key = { pk: childrenOf(id), sk: path.slice(at, at + SEGMENT_LENGTH) };
    const child: ChildItem | undefined = await deps.tables.get(childrenTable, key);
    if (child === undefined) return undefined;
    id = child.id;
  }
  const place = id === null ? undefined : await readPlaced(deps, id);
  return place !== undefined && pathOf(place) === path ? place : undefined;
}
