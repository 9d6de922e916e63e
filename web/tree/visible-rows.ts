import { type RefObject, useEffect, useState } from "react";

/** Rows that are rendered above and below the visible ones. */
const MARGIN = 10;

interface Range {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
}

/**
 * Which rows of equal height are visible in the element around them that scrolls, which has the attribute
 * `data-scroller`. Only these are rendered.
 */
export function useVisibleRows(list: RefObject<HTMLElement | null>, count: number, height: number): Range {
  const [range, setRange] = useState<Range>({ first: 0, end: 2 * MARGIN });
  useEffect(() => {
    const scroller = list.current?.closest<HTMLElement>("[data-scroller]");
    if (list.current === null || scroller === null || scroller === undefined) return;
    const element = list.current;
    const update = (): void => {
      const above = scroller.getBoundingClientRect().top - element.getBoundingClientRect().top;
      const first = Math.max(Math.floor(above / height) - MARGIN, 0);
      const end = Math.ceil((above + scroller.clientHeight) / height) + MARGIN;
      setRange((current) => (current.first === first && current.end === end ? current : { first, end }));
    };
    update();
    scroller.addEventListener("scroll", update, { passive: true });
    const observer = new ResizeObserver(update);
    observer.observe(scroller);
    return () => {
      scroller.removeEventListener("scroll", update);
      observer.disconnect();
    };
  }, [list, height]);
  return { first: Math.min(range.first, count), end: Math.min(range.end, count) };
}
