import { type RefObject, useLayoutEffect } from "react";
import { alignThreads } from "./align-threads.ts";
import { MARK } from "./use-anchors.ts";

/** Between two threads, px. */
const GAP = 8;
/** From the top of a thread to its first line, px. */
const PADDING = 12;

interface Options {
  /** Whether the threads are beside the text, otherwise they are below each other. */
  readonly isEnabled: boolean;
  readonly chosen: string | undefined;
  /** Changes with the threads and their texts. */
  readonly version: unknown;
}

/** Places the items of a list, which have the id of their thread in `data-thread`, beside the marks in the text. */
export function useAlignment(
  list: RefObject<HTMLElement | null>,
  { isEnabled, chosen, version }: Options,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: other items are to be observed after a change
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null || !isEnabled) return;
    const items = [...element.querySelectorAll<HTMLElement>("[data-thread]")];
    let frame: number | undefined;
    const align = (): void => {
      frame = undefined;
      place(element, items, chosen);
    };
    const observer = new ResizeObserver(() => {
      frame ??= requestAnimationFrame(align);
    });
    for (const item of items) observer.observe(item);
    const text = document.querySelector("article");
    if (text !== null) observer.observe(text);
    align();
    return () => {
      observer.disconnect();
      if (frame !== undefined) cancelAnimationFrame(frame);
      element.style.removeProperty("min-height");
      for (const item of items) item.style.removeProperty("top");
    };
  }, [list, isEnabled, chosen, version]);
}

function place(list: HTMLElement, items: readonly HTMLElement[], chosen: string | undefined): void {
  const start = list.getBoundingClientRect().top;
  const marks = new Map<string, number>();
  for (const mark of document.querySelectorAll<HTMLElement>(MARK)) {
    const { top, height } = mark.getBoundingClientRect();
    const thread = mark.dataset.bnThreadId ?? "";
    if (height > 0 && !marks.has(thread)) marks.set(thread, top - start - PADDING);
  }
  const threads = items.map(({ dataset: { thread = "" }, offsetHeight }) => ({
    wanted: marks.get(thread),
    height: offsetHeight,
  }));
  const tops = alignThreads(
    threads,
    items.findIndex(({ dataset }) => dataset.thread === chosen),
    GAP,
  );
  let end = 0;
  for (const [index, item] of items.entries()) {
    const top = tops[index] ?? 0;
    item.style.top = `${top}px`;
    end = Math.max(end, top + (threads[index]?.height ?? 0));
  }
  list.style.minHeight = `${end}px`;
}
