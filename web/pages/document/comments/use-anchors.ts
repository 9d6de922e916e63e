import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type * as Y from "yjs";
import type { Thread } from "./threads.ts";

/** How soon marks are read after an edit, milliseconds. */
const FOLLOW_MS = 250;
const QUOTE_MAX_LENGTH = 200;
const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
export const MARK = "[data-editor] [data-bn-thread-id]";

/** The text that each thread is about, by the thread's id, in the order of the document. */
export type Anchors = ReadonlyMap<string, string>;

/** The marks of threads in the shown text, also after edits. Threads that are not known yet are read. */
export function useAnchors(id: string, document: Y.Doc, threads: readonly Thread[]): Anchors {
  const client = useQueryClient();
  const [anchors, setAnchors] = useState<Anchors>(new Map());
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setAnchors((current) => {
          const next = readAnchors();
          return isEqual(current, next) ? current : next;
        });
      }, FOLLOW_MS);
    };
    follow();
    document.on("update", follow);
    return () => {
      clearTimeout(timer);
      document.off("update", follow);
    };
  }, [document]);
  const known = new Set(threads.map((thread) => thread.id));
  const unknown = [...anchors.keys()].filter((thread) => !known.has(thread)).join(" ");
  useEffect(() => {
    if (unknown !== "") void client.invalidateQueries({ queryKey: ["document", id, "threads"] });
  }, [unknown, id, client]);
  return anchors;
}

function readAnchors(): Anchors {
  const anchors = new Map<string, string>();
  for (const mark of document.querySelectorAll<HTMLElement>(MARK)) {
    const thread = mark.dataset.bnThreadId ?? "";
    const quote = `${anchors.get(thread) ?? ""}${mark.textContent}`;
    if (ID.test(thread)) anchors.set(thread, quote.slice(0, QUOTE_MAX_LENGTH));
  }
  return anchors;
}

const isEqual = (one: Anchors, other: Anchors): boolean =>
  JSON.stringify([...one]) === JSON.stringify([...other]);

/**
 * Highlights the marks of open threads, and more so that of the chosen one. A style sheet does it, so that the text is
 * not changed.
 */
export function useHighlights(threads: readonly Thread[], chosen: string | undefined): void {
  const open = threads.filter(({ id, resolved }) => !resolved && ID.test(id)).map(({ id }) => id);
  const rules = open
    .map((id) => {
      const color = id === chosen ? "var(--highlight-chosen)" : "var(--highlight)";
      return `[data-editor] [data-bn-thread-id="${id}"]{background:${color};cursor:pointer}`;
    })
    .join("");
  useEffect(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(rules);
    document.adoptedStyleSheets.push(sheet);
    return () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    };
  }, [rules]);
}
