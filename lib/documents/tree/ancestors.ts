import type { Ports } from "../../platform/ports.ts";
import { DEPTH_MAX, documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { parseSegment } from "./path-segment.ts";

/** A document and its ancestors. */
export interface DocumentNode {
  readonly document: StoredDocument;
  /** Root first; empty for a root. */
  readonly ancestors: readonly StoredDocument[];
}

type TreeDeps = Pick<Ports, "tables">;

/** Reads a document with its ancestors. Returns undefined if it does not exist. */
export async function readNode(deps: TreeDeps, id: string): Promise<DocumentNode | undefined> {
  const document = await deps.tables.get(documentsTable, documentKey(id));
  return document === undefined ? undefined : resolveAncestors(deps, document);
}

/** Reads the ancestors of a document: in one read from its `chain`, or level by level if the chain is out of date. */
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
    // The limit stops a loop. Concurrent moves can lengthen the chain, so it is twice the depth.
    if (above === undefined || ancestors.length > DEPTH_MAX * 2)
      throw new Error("an ancestor of the document does not exist");
    ancestors.unshift(above);
    at = above.parent;
  }
  return { document, ancestors };
}

/** Reads the ancestors of several documents, usually in one read. */
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

/** Whether the first is a root and each is the parent of the next. */
function isUnbroken(ancestors: readonly StoredDocument[]): boolean {
  return ancestors.every(({ parent }, at) => parent === (ancestors[at - 1]?.id ?? null));
}

export const idsOf = (documents: readonly StoredDocument[]): string[] => documents.map(({ id }) => id);

/** Returns the ancestors, root first, and the document itself. */
export const ancestorsAndSelf = ({ document, ancestors }: DocumentNode): readonly StoredDocument[] => [
  ...ancestors,
  document,
];

/** Returns when the document or an ancestor was first deleted; null if live. Reference 3.1. */
export function findDeletedAt(node: DocumentNode): string | null {
  return ancestorsAndSelf(node).reduce<string | null>(
    (first, { deleted_at }) =>
      deleted_at !== null && (first === null || deleted_at < first) ? deleted_at : first,
    null,
  );
}

/** Returns the path shown to clients: seven characters per level. Sorting by it gives tree order. Reference 2.1. */
export const toTreePath = (node: DocumentNode): string =>
  ancestorsAndSelf(node)
    .map(({ order, segment }) => (parseSegment(order) === undefined ? segment : order))
    .join("");
