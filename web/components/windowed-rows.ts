import { type RefObject, useLayoutEffect, useState } from "react";

/** Rows that are rendered before and after those in sight. */
const OVERSCAN = 20;

/** Which rows to render. */
export interface WindowedRows {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** The rows of equal height that are in sight in an element that scrolls. */
export function useWindowedRows(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): WindowedRows {
  const [{ top, height }, setSight] = useState({ top: 0, height: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = (): void => {
      // A step of a few rows, so that most scroll events change nothing.
      const step = (rowHeight * OVERSCAN) / 2;
      const next = { top: Math.floor(element.scrollTop / step) * step, height: element.clientHeight };
      setSight((before) => (before.top === next.top && before.height === next.height ? before : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, [scroller, rowHeight]);
  const from = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN / 2);
  return {
    from: Math.min(from, count),
    to: Math.min(count, Math.ceil((top + height) / rowHeight) + OVERSCAN),
  };
}
