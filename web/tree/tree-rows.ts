import type { Document } from "../api/documents.ts";

/** The key of the level of the documents without a parent that the user can see. */
export const TOP = "";

/** What is loaded of the children of a document, or of the top level. */
export interface TreeLevel {
  readonly documents: readonly Document[];
  /** All of them, whether loaded or not. */
  readonly count: number;
  readonly isPending: boolean;
}

export interface DocumentTreeRow {
  readonly kind: "document";
  readonly document: Document;
  /** Id of the parent in the tree, or `TOP`. */
  readonly parent: string;
  /** 1 for the top level. */
  readonly level: number;
  /** From 1. */
  readonly position: number;
  readonly siblings: number;
  /** Undefined if there is nothing below it. */
  readonly isExpanded: boolean | undefined;
}

/** Stands for the rest of a level, which is loaded when it is reached. */
export interface MoreTreeRow {
  readonly kind: "more";
  readonly parent: string;
  readonly level: number;
  /** 0 while nothing is known of the level. */
  readonly count: number;
}

export type TreeRow = DocumentTreeRow | MoreTreeRow;

/** Identifies a row. A document can be shown once. */
export const keyOfRow = (row: TreeRow): string =>
  row.kind === "document" ? row.document.id : `more-${row.parent}`;

/**
 * The rows of the tree from top to bottom. The documents of `path`, which lead to the open one, are shown even if the
 * part of their level that contains them is not loaded.
 */
export function rowsOfTree(
  levels: ReadonlyMap<string, TreeLevel>,
  isExpanded: (id: string) => boolean,
  path: readonly Document[],
): TreeRow[] {
  const rows: TreeRow[] = [];
  const shown = new Set<string>();
  const add = (parent: string, level: number): void => {
    const { documents = [], count = 0, isPending = true } = levels.get(parent) ?? {};
    const revealed = path[level - 1];
    const isBelow = level === 1 || path[level - 2]?.id === parent;
    const isMissing = revealed !== undefined && isBelow && documents.every(({ id }) => id !== revealed.id);
    const all = isMissing ? [...documents, revealed] : documents;
    const siblings = Math.max(count, all.length);
    for (const [index, document] of all.entries()) {
      // A list that changes between two of its pages may contain a document twice.
      if (shown.has(document.id)) continue;
      shown.add(document.id);
      const expanded = document.numchild === 0 ? undefined : isExpanded(document.id);
      rows.push({
        kind: "document",
        document,
        parent,
        level,
        position: index + 1,
        siblings,
        isExpanded: expanded,
      });
      if (expanded === true) add(document.id, level + 1);
    }
    const rest = count - all.length;
    if (rest > 0 || (isPending && documents.length === 0))
      rows.push({ kind: "more", parent, level, count: Math.max(rest, 0) });
  };
  add(TOP, 1);
  return rows;
}

/** The documents from the top of a tree of the API to one of its documents; empty if it is not in the tree. */
export function pathTo(tree: TreeNode, id: string): Document[] {
  const { children, ...document } = tree;
  if (document.id === id) return [document];
  for (const child of children ?? []) {
    const below = pathTo(child, id);
    if (below.length > 0) return [document, ...below];
  }
  return [];
}

/** A document with some of those below it. */
export type TreeNode = Document & { readonly children?: readonly TreeNode[] | undefined };
