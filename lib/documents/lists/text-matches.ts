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
  const finding = terms.length === 0 || among.length === 0 ? [] : findPlaces(deps, terms, among);
  // On one machine, another thread searches meanwhile.
  const needle = fold(q);
  const titleRanks = among.map(({ title }) => rankTitle(title, needle));
  const places = await finding;
  const commented = among.filter((_, at) => places[at] === "comment");
  const mayComment = await commentable(deps, viewer, commented, rows);
  const matches: { readonly document: IndexedDocument; readonly rank: number }[] = [];
  // Faster than an iterator over entries, for many thousands of documents.
  among.forEach((document, at) => {
    const place = places[at];
    const titleRank = titleRanks[at] ?? NO_TITLE;
    if (titleRank < NO_TITLE) matches.push({ document, rank: titleRank });
    else if (place !== undefined && (place !== "comment" || mayComment.has(document.id)))
      matches.push({ document, rank: PLACE_RANKS[place] });
  });
  return matches;
}

/** The place where each document matches. */
async function findPlaces(
  { fullText }: TextDeps,
  terms: readonly TextTerm[],
  among: readonly IndexedDocument[],
): Promise<readonly (TextPlace | undefined)[]> {
  if (among.length > COMPARED_MAX) return fullText.find(terms, among);
  const texts = await fullText.get(among.map(({ id }) => id));
  if (texts.reduce((sum, { data }) => sum + data.length, 0) > COMPARED_MAX_BYTES)
    return fullText.find(terms, among);
  const places = new Map(texts.map(({ id, data }) => [id, findPlace(wordsOf(decodeParts(data)), terms)]));
  return among.map(({ id }) => places.get(id));
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
