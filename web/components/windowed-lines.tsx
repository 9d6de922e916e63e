import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";
import classes from "./json-view.module.css";

/** Height of a line, pixels. Also in the style sheet. */
const LINE_HEIGHT = 20;
const OVERSCAN = 20;

interface Props {
  readonly label: string;
  readonly count: number;
  /** A line, by its index. */
  readonly children: (index: number) => ReactNode;
}

/** Lines of equal height, of which only those in sight are rendered. */
export function WindowedLines({ label, count, children }: Props): ReactNode {
  const scroller = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: OVERSCAN,
  });
  const lines = virtual.getVirtualItems();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section ref={scroller} className={classes.view} aria-label={label} tabIndex={0} dir="ltr">
      <div style={{ height: virtual.getTotalSize() }}>
        <div style={{ transform: `translateY(${lines[0]?.start ?? 0}px)` }}>
          {lines.map(({ index }) => children(index))}
        </div>
      </div>
    </section>
  );
}
