import { type DragEvent, type RefObject, useEffect, useRef, useState } from "react";
import type { Place } from "../document-menu/move-document.ts";
import { type DropZone, droppedDocument, isLinkDrag, startDrag, zoneAt } from "./drag-and-drop.ts";
import { type DocumentTreeRow, TOP, type TreeRow } from "./tree-rows.ts";

/** Time over a collapsed row after which it expands, milliseconds. */
const EXPAND_MS = 700;

const POSITIONS = { before: "left", after: "right", inside: "last-child" } as const;

interface Over {
  readonly id: string;
  readonly zone: DropZone;
}

interface Options {
  /** Files were dropped on a document. */
  readonly onFiles: (files: readonly File[], parent: string) => void;
  readonly onMove: (id: string, to: Place) => void;
  readonly onExpand: (id: string) => void;
}

interface Handlers {
  readonly onDragStart?: (event: DragEvent) => void;
  readonly onDragOver: (event: DragEvent) => void;
  readonly onDragLeave: (event: DragEvent) => void;
  readonly onDrop: (event: DragEvent) => void;
}

interface Drop {
  /** Whether a document is dragged, here or from a list. */
  readonly isDragging: boolean;
  readonly over: Over | undefined;
  readonly isOverTop: boolean;
  readonly handlers: Handlers;
  /** Of the place that stands for the top level. */
  readonly topHandlers: Handlers;
}

/** Moves documents by dragging rows, or links to documents from elsewhere, onto rows. */
export function useDrop(
  tree: RefObject<HTMLElement | null>,
  rows: readonly TreeRow[],
  { onMove, onExpand, onFiles }: Options,
): Drop {
  const isDragging = useDocumentDrag();
  const [over, setOver] = useState<Over>();
  const [isOverTop, setOverTop] = useState(false);
  const opening = useRef<{ id: string; timer: ReturnType<typeof setTimeout> }>(undefined);
  const documents = rows.filter((row) => row.kind === "document");
  const rowOf = (
    event: DragEvent,
  ): { readonly row: DocumentTreeRow; readonly zone: DropZone } | undefined => {
    const element = (event.target as Element).closest<HTMLElement>("[data-row]");
    const row = documents.find(({ document }) => document.id === element?.dataset.row);
    if (element === null || row === undefined) return undefined;
    return { row, zone: zoneAt(element.getBoundingClientRect(), event.clientY, row.parent === TOP) };
  };
  const wait = (id: string | undefined): void => {
    if (opening.current?.id === id) return;
    clearTimeout(opening.current?.timer);
    opening.current = id === undefined ? undefined : { id, timer: setTimeout(() => onExpand(id), EXPAND_MS) };
  };
  const end = (): void => {
    setOver(undefined);
    setOverTop(false);
    wait(undefined);
  };
  const allow = (event: DragEvent): void => {
    event.preventDefault();
    event.dataTransfer.dropEffect = "move";
  };
  return {
    isDragging,
    over,
    isOverTop,
    handlers: {
      onDragStart: (event) => {
        const row = rowOf(event)?.row;
        if (row !== undefined) startDrag(event.dataTransfer, row.document);
      },
      onDragOver: (event) => {
        const found = rowOf(event);
        const hasFiles = event.dataTransfer.types.includes("Files");
        if (found === undefined || !(hasFiles || isLinkDrag(event.dataTransfer))) return;
        allow(event);
        if (hasFiles) event.dataTransfer.dropEffect = "copy";
        const { row } = found;
        const zone = hasFiles ? "inside" : found.zone;
        setOver((current) =>
          current?.id === row.document.id && current.zone === zone ? current : { id: row.document.id, zone },
        );
        wait(zone === "inside" && row.isExpanded === false ? row.document.id : undefined);
      },
      onDragLeave: ({ relatedTarget }) => {
        if (!(relatedTarget instanceof Node) || tree.current?.contains(relatedTarget) !== true) end();
      },
      onDrop: (event) => {
        const found = rowOf(event);
        const id = droppedDocument(event.dataTransfer);
        const files = [...event.dataTransfer.files];
        end();
        if (found !== undefined && files.length > 0) {
          event.preventDefault();
          onFiles(files, found.row.document.id);
          return;
        }
        if (found === undefined || id === undefined || id === found.row.document.id) return;
        event.preventDefault();
        onMove(id, { target: found.row.document, position: POSITIONS[found.zone] });
      },
    },
    topHandlers: {
      onDragOver: (event) => {
        if (!isLinkDrag(event.dataTransfer)) return;
        allow(event);
        setOverTop(true);
      },
      onDragLeave: end,
      onDrop: (event) => {
        const id = droppedDocument(event.dataTransfer);
        const top = documents.find(({ document }) => document.depth === 1);
        end();
        if (id === undefined || top === undefined) return;
        event.preventDefault();
        onMove(id, { target: top.document, position: "last-sibling" });
      },
    },
  };
}

/** Whether something that may be a document is dragged within the page. */
function useDocumentDrag(): boolean {
  const [isDragging, setDragging] = useState(false);
  useEffect(() => {
    // Set in the next frame: a browser ends a drag whose element moves as it begins.
    const start = ({ dataTransfer }: globalThis.DragEvent): void => {
      if (dataTransfer !== null && isLinkDrag(dataTransfer)) requestAnimationFrame(() => setDragging(true));
    };
    const stop = (): void => {
      requestAnimationFrame(() => setDragging(false));
    };
    document.addEventListener("dragstart", start);
    document.addEventListener("dragend", stop);
    document.addEventListener("drop", stop);
    return () => {
      document.removeEventListener("dragstart", start);
      document.removeEventListener("dragend", stop);
      document.removeEventListener("drop", stop);
    };
  }, []);
  return isDragging;
}
