import { ApiError } from "../../errors.ts";
import type { PageRequest } from "../../http/page.ts";
import type { TextTerm } from "../../platform/full-text.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key } from "../../platform/tables.ts";
import {
  type DocumentAccess,
  evaluateAccess,
  isPastTrashCutoff,
  resolveAccess,
  type Viewer,
} from "../authorization/document-access.ts";
import { requestBackfill } from "../full-text/backfill.ts";
import type { Highlight } from "../full-text/highlights.ts";
import { parseTerms } from "../full-text/words.ts";
import { type ChildItem, childrenOf, childrenTable } from "../tables/documents.ts";
import { type DocumentNode, readNode, toTreePath } from "../tree/ancestors.ts";
import { isSameOrDescendant } from "../tree/move-target.ts";
import { SEGMENT_LENGTH } from "../tree/path-segment.ts";
import { matchesFilters, type Ordering } from "./filter-and-sort.ts";
import { type DocumentPage, type ListDeps, readPage, readReachable, readSubtrees } from "./list-documents.ts";
import { rankMatches, readHighlights } from "./text-matches.ts";

export interface SearchRequest extends PageRequest {
  /** Part of the title, or words; an empty text matches everything. */
  readonly q: string;
  readonly title?: string | undefined;
  /** Limits the search to this document and its descendants, by id or path; the id takes precedence. */
  readonly document?: string | undefined;
  readonly path?: string | undefined;
  /** Default: best match first; within a document, always tree order. */
  readonly ordering?: Ordering | undefined;
}

/** A search result with the topmost ancestor that the viewer may read, and excerpts of what matches. */
export interface SearchResult {
  readonly access: DocumentAccess;
  readonly parent: DocumentAccess | undefined;
  readonly highlights: readonly Highlight[];
}

export type SearchDeps = ListDeps & Pick<Ports, "fullText" | "queues" | "log">;

/**
 * Searches titles, contents, comments and names of attachments in all documents that the viewer can reach, or in one
 * document and its descendants. A document is found if its title contains the text, or if it contains each word. Throws
 * `not_found` if that document does not exist, `forbidden` if the viewer may not search in it. Reference 1.4.
 */
export async function searchDocuments(
  deps: SearchDeps,
  viewer: Viewer,
  asked: SearchRequest,
): Promise<{ readonly count: number; readonly found: readonly SearchResult[] }> {
  const scope = await resolveScope(deps, viewer, asked);
  const terms = parseTerms(asked.q);
  if (terms.length > 0) await requestBackfill(deps);
  const page =
    scope === undefined
      ? await searchAll(deps, viewer, asked, terms)
      : await searchIn(deps, viewer, asked, scope, terms);
  const { count, accesses, relations } = page;
  const parentOf = (one: DocumentAccess): DocumentAccess | undefined => {
    const { ancestors } = one;
    for (const [at, document] of ancestors.entries()) {
      const above = evaluateAccess(deps, viewer, { document, ancestors: ancestors.slice(0, at) }, relations);
      if (above.abilities.retrieve) return above;
    }
    return undefined;
  };
  const highlights = await readHighlights(deps, accesses, terms);
  const found = accesses.map((access) => ({
    access,
    parent: parentOf(access),
    highlights: highlights.get(access.document.id) ?? [],
  }));
  return { count, found };
}

async function searchAll(
  deps: SearchDeps,
  viewer: Viewer,
  asked: SearchRequest,
  terms: readonly TextTerm[],
): Promise<DocumentPage> {
  if (viewer === undefined) return { count: 0, accesses: [], relations: new Map() };
  const { q, title, ordering } = asked;
  return readPage(deps, viewer, asked, async (snapshot) => {
    const rows = await snapshot.rowsOf(viewer.id);
    const reached = await readReachable(deps, snapshot, rows, ordering ?? "-updated_at");
    const among = title === undefined ? reached : reached.filter(matchesFilters(viewer.id, { title }));
    if (q === "") return among;
    const ranked = await rankMatches(deps, viewer, { q, terms, among, rows });
    if (ordering === undefined) ranked.sort((one, other) => one.rank - other.rank);
    return ranked.map(({ document }) => document);
  });
}

async function searchIn(
  deps: SearchDeps,
  viewer: Viewer,
  asked: SearchRequest,
  scope: string,
  terms: readonly TextTerm[],
): Promise<DocumentPage> {
  const isShown = (access: DocumentAccess): boolean =>
    access.abilities.retrieve && access.deletedAt === null && isSameOrDescendant(access, scope);
  const { q, title } = asked;
  return readPage(
    deps,
    viewer,
    asked,
    async ({ index }) => {
      await index.load(deps, [scope]);
      const top = index.get(scope);
      const inside = top === undefined ? [] : await readSubtrees(deps, index, [top], { inOrder: true });
      const among = inside.filter(matchesFilters(viewer?.id, { title }));
      if (q === "") return among;
      return (await rankMatches(deps, viewer, { q, terms, among })).map(({ document }) => document);
    },
    isShown,
  );
}

/** Returns the id of the document to search in; undefined for all. */
async function resolveScope(
  deps: ListDeps,
  viewer: Viewer,
  { document, path }: SearchRequest,
): Promise<string | undefined> {
  if (document === undefined && path === undefined) return undefined;
  const node =
    document === undefined ? await findByTreePath(deps, path ?? "") : await readNode(deps, document);
  const nothing = new ApiError(
    "not_found",
    `Document not found${document === undefined ? " from path" : ""}.`,
  );
  if (node === undefined) throw nothing;
  const { abilities, role, deletedAt } = await resolveAccess(deps, viewer, node);
  if (deletedAt !== null && (role !== "owner" || isPastTrashCutoff(deps, deletedAt))) throw nothing;
  if (abilities.search) return node.document.id;
  throw new ApiError("forbidden", "You do not have permission to search within this document.");
}

const PATH = /^(?:[0-9A-Z]{7}){1,36}$/;

/** Finds the document at a path. */
async function findByTreePath(deps: ListDeps, path: string): Promise<DocumentNode | undefined> {
  if (!PATH.test(path)) return undefined;
  let id: string | null = null;
  for (let at = 0; at < path.length; at += SEGMENT_LENGTH) {
    const key: Key = { pk: childrenOf(id), sk: path.slice(at, at + SEGMENT_LENGTH) };
    const child: ChildItem | undefined = await deps.tables.get(childrenTable, key);
    if (child === undefined) return undefined;
    id = child.id;
  }
  const node = id === null ? undefined : await readNode(deps, id);
  return node !== undefined && toTreePath(node) === path ? node : undefined;
}
