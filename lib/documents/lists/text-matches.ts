import type { TextPlace, TextTerm } from "../../platform/full-text.ts";
import type { Ports } from "../../platform/ports.ts";
import { findPlace } from "../../platform/text-match.ts";
import {
  type AuthorizationDeps,
  type DocumentAccess,
  resolveAccesses,
  type Viewer,
} from "../authorization/document-access.ts";
import { fold } from "../fold.ts";
import { composeHighlights, type Highlight } from "../full-text/highlights.ts";
import { decodeParts, wordsOf } from "../full-text/text-parts.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import { type IndexedDocument, STEPS_MAX } from "./document-index.ts";
import { rankTitle } from "./filter-and-sort.ts";
import type { UserRelations } from "./list-cache.ts";

export type TextDeps = AuthorizationDeps & Pick<Ports, "fullText">;

/** Ranks: 0 to 3 are those of `rankTitle`. */
const PLACE_RANKS: Readonly<Record<TextPlace, number>> = { title: 4, heading: 5, body: 6, comment: 7 };
const NO_TITLE = 4;
/** The stored texts of this many documents are compared, which costs less than reading the index for all documents. */
const COMPARED_MAX = 40;
const COMPARED_MAX_BYTES = 256 * 1024;

interface Search {
  readonly q: string;
  readonly terms: readonly TextTerm[];
  /** The documents that the viewer may read; others have no influence. */
  readonly among: readonly IndexedDocument[];
  /** The viewer's relations, if known. */
  readonly rows?: UserRelations;
}

/** Finds documents by a part of their title or by words, in the given order, with their ranks: lower is better. */
export async function rankMatches(
  deps: TextDeps,
  viewer: Viewer,
  { q, terms, among, rows }: Search,
): Promise<{ readonly document: IndexedDocument; readonly rank: number }[]> {
  const places =
    terms.length === 0 || among.length === 0
      ? new Map<string, TextPlace>()
      : await findPlaces(deps, terms, among);
  const commented = among.filter(({ id }) => places.get(id) === "comment");
  const mayComment = await commentable(deps, viewer, commented, rows);
  const needle = fold(q);
  return among.flatMap((document) => {
    const { id } = document;
    const place = places.get(id);
    const titleRank = rankTitle(document.title, needle);
    if (titleRank < NO_TITLE) return [{ document, rank: titleRank }];
    if (place === undefined || (place === "comment" && !mayComment.has(id))) return [];
    return [{ document, rank: PLACE_RANKS[place] }];
  });
}

async function findPlaces(
  { fullText }: TextDeps,
  terms: readonly TextTerm[],
  among: readonly IndexedDocument[],
): Promise<ReadonlyMap<string, TextPlace>> {
  const ids = among.map(({ id }) => id);
  if (ids.length > COMPARED_MAX) return fullText.find(terms, ids);
  const texts = await fullText.get(ids);
  if (texts.reduce((sum, { data }) => sum + data.length, 0) > COMPARED_MAX_BYTES)
    return fullText.find(terms, ids);
  const places = new Map<string, TextPlace>();
  for (const { id, data } of texts) {
    const place = findPlace(wordsOf(decodeParts(data)), terms);
    if (place !== undefined) places.set(id, place);
  }
  return places;
}

/** The documents whose comments the viewer may read. */
async function commentable(
  deps: TextDeps,
  viewer: Viewer,
  documents: readonly IndexedDocument[],
  rows: UserRelations | undefined,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const unknown: IndexedDocument[] = [];
  for (const document of documents) {
    if (rows !== undefined && hasCommentingRole(document, rows)) found.add(document.id);
    else unknown.push(document);
  }
  if (unknown.length === 0) return found;
  const stored = await deps.tables.batchGet(
    documentsTable,
    unknown.map(({ id }) => documentKey(id)),
  );
  for (const { document, abilities } of (await resolveAccesses(deps, viewer, stored)).accesses)
    if (abilities.comment) found.add(document.id);
  return found;
}

/** Whether a role on the document or an ancestor includes comments; a link may include them, too. */
function hasCommentingRole(document: IndexedDocument, { byDocument }: UserRelations): boolean {
  let at: IndexedDocument | undefined = document;
  for (let steps = 0; at !== undefined && steps < STEPS_MAX; steps += 1, at = at.parent) {
    const role = byDocument.get(at.id)?.role;
    if (role !== undefined && role !== "reader") return true;
  }
  return false;
}

/** Excerpts of documents by id, of what the viewer may read. */
export async function readHighlights(
  { fullText }: Pick<Ports, "fullText">,
  accesses: readonly DocumentAccess[],
  terms: readonly TextTerm[],
): Promise<ReadonlyMap<string, readonly Highlight[]>> {
  const highlights = new Map<string, readonly Highlight[]>();
  if (terms.length === 0 || accesses.length === 0) return highlights;
  const byId = new Map(accesses.map((access) => [access.document.id, access]));
  for (const { id, data } of await fullText.get([...byId.keys()])) {
    const mayComment = byId.get(id)?.abilities.comment === true;
    const parts = decodeParts(data).filter(({ field }) => field !== "comment" || mayComment);
    highlights.set(id, composeHighlights(parts, terms));
  }
  return highlights;
}
