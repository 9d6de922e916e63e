import type { Ports } from "../../platform/ports.ts";
import { DEPTH_MAX, documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { parseSegment } from "./path-segment.ts";

/** A document and all that it lies in. */
export interface DocumentNode {
  readonly document: StoredDocument;
  /** Root first; none of a root. */
  readonly ancestors: readonly StoredDocument[];
}

type TreeDeps = Pick<Ports, "tables">;

/** A document with its ancestors, or undefined where there is none of this id. */
export async function readNode(deps: TreeDeps, id: string): Promise<DocumentNode | undefined> {
  const document = await deps.tables.get(documentsTable, documentKey(id));
  return document === undefined ? undefined : resolveAncestors(deps, document);
}

/** The ancestors of a document that was just read: by its own account in one read, level by level where that is out of date. */
export async function resolveAncestors(deps: TreeDeps, document: StoredDocument): Promise<DocumentNode> {
  const { chain, parent } = document;
  if (parent === null) return { document, ancestors: [] };
  const stored =
    chain.at(-1) === parent ? await deps.tables.batchGet(documentsTable, chain.map(documentKey)) : [];
  if (stored.length === chain.length && isUnbroken(stored)) return { document, ancestors: stored };
  const known = new Map(stored.map((ancestor) => [ancestor.id, ancestor]));
  const ancestors: StoredDocument[] = [];
  for (let at: string | null = parent; at !== null; ) {
    const above: StoredDocument | undefined =
      known.get(at) ?? (await deps.tables.get(documentsTable, documentKey(at)));
    // A chain is as long as its tree is deep, also while a move is under way: each was in its node when it was read.
    if (above === undefined || ancestors.length > DEPTH_MAX * 2)
      throw new Error("a document lies in nothing that is there");
    ancestors.unshift(above);
    at = above.parent;
  }
  return { document, ancestors };
}

/** Likewise of several documents that were just read, with one read for all as a rule. */
export async function resolveAllAncestors(
  deps: TreeDeps,
  documents: readonly StoredDocument[],
): Promise<readonly DocumentNode[]> {
  const ids = new Set(documents.flatMap(({ chain }) => chain));
  const stored = ids.size === 0 ? [] : await deps.tables.batchGet(documentsTable, [...ids].map(documentKey));
  const known = new Map(stored.map((ancestor) => [ancestor.id, ancestor]));
  return Promise.all(
    documents.map((document) => {
      const { chain, parent } = document;
      const ancestors = chain.flatMap((id) => known.get(id) ?? []);
      const holds = ancestors.length === chain.length && (chain.at(-1) ?? null) === parent;
      return holds && isUnbroken(ancestors) ? { document, ancestors } : resolveAncestors(deps, document);
    }),
  );
}

/** Whether each lies in the one before it, and the first in none. */
function isUnbroken(ancestors: readonly StoredDocument[]): boolean {
  return ancestors.every(({ parent }, at) => parent === (ancestors[at - 1]?.id ?? null));
}

export const idsOf = (documents: readonly StoredDocument[]): string[] => documents.map(({ id }) => id);

/** Root first, the document last. */
export const ancestorsAndSelf = ({ document, ancestors }: DocumentNode): readonly StoredDocument[] => [
  ...ancestors,
  document,
];

/** When it was deleted, itself or with what it lies in: the earliest of them. Reference 3.1. */
export function findDeletedAt(node: DocumentNode): string | null {
  return ancestorsAndSelf(node).reduce<string | null>(
    (first, { deleted_at }) =>
      deleted_at !== null && (first === null || deleted_at < first) ? deleted_at : first,
    null,
  );
}

/** The path that clients see: seven characters a level. Sorted by it, documents are in the order of their trees. Reference 2.1. */
export const toTreePath = (node: DocumentNode): string =>
  ancestorsAndSelf(node)
    .map(({ order, segment }) => (parseSegment(order) === undefined ? segment : order))
    .join("");
