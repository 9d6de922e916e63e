import type { Place } from "../document-menu/move-document.ts";
import { type DocumentTreeRow, TOP, type TreeRow } from "./tree-rows.ts";

const siblingsOf = (rows: readonly TreeRow[], parent: string): DocumentTreeRow[] =>
  rows.filter((row) => row.kind === "document").filter((row) => row.parent === parent);

/** The places one step up and down among the siblings; undefined on the top level, which has no order of its own. */
export function neighborsOf(
  rows: readonly TreeRow[],
  row: TreeRow,
): { readonly up: Place | undefined; readonly down: Place | undefined } | undefined {
  if (row.kind === "more" || row.parent === TOP || !row.document.abilities.move) return undefined;
  const siblings = siblingsOf(rows, row.parent);
  const at = siblings.indexOf(row);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  return {
    up: before === undefined ? undefined : { target: before.document, position: "left" },
    down: after === undefined ? undefined : { target: after.document, position: "right" },
  };
}

/** Where a document is now, as a place that it can be moved back to. */
export function placeBeside(rows: readonly TreeRow[], id: string): Place | undefined {
  const documents = rows.filter((row) => row.kind === "document");
  const row = documents.find(({ document }) => document.id === id);
  if (row === undefined || row.parent === TOP) return undefined;
  const siblings = siblingsOf(rows, row.parent);
  const before = siblings[siblings.indexOf(row) - 1];
  if (before !== undefined) return { target: before.document, position: "right" };
  const parent = documents.find(({ document }) => document.id === row.parent);
  return parent === undefined ? undefined : { target: parent.document, position: "first-child" };
}
