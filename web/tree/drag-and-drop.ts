import { type Document, documentIdOf, documentPath } from "../api/documents.ts";
import { parseUrl } from "../api/parse-url.ts";

/** Where a document is dropped: next to a row, or below it. */
export type DropZone = "before" | "after" | "inside";

/** Links of lists are dragged with the same type, so that they can be dropped on the tree, too. */
const TYPE = "text/uri-list";
/** Part of a row's height at its upper and lower end that means the place before and after it. */
const EDGE = 0.25;

/** Begins to drag a document, as a link that other programs understand. */
export function startDrag(transfer: DataTransfer, document: Document): void {
  const address = location.origin + documentPath(document);
  transfer.setData(TYPE, address);
  transfer.setData("text/plain", address);
  transfer.effectAllowed = "copyMove";
}

/** Whether a drag may be that of a document. Its data is readable only when it is dropped. */
export const isLinkDrag = ({ types }: DataTransfer): boolean => types.includes(TYPE);

/** The id of the dropped document; undefined if the link leads to something else. */
export function droppedDocument(transfer: DataTransfer): string | undefined {
  const address = transfer.getData(TYPE).split(/\r?\n/)[0] ?? "";
  const url = parseUrl(address);
  if (url?.origin !== location.origin) return undefined;
  const name = /^\/d\/([^/]+)$/.exec(url.pathname)?.[1];
  return name === undefined ? undefined : documentIdOf(name);
}

/** The zone of a row at a height of the pointer. The top level has an order of its own: nothing is placed in it. */
export function zoneAt(row: DOMRect, clientY: number, isTopLevel: boolean): DropZone {
  if (isTopLevel) return "inside";
  const at = (clientY - row.top) / row.height;
  if (at < EDGE) return "before";
  return at > 1 - EDGE ? "after" : "inside";
}
