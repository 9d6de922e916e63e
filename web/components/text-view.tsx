import { type CSSProperties, type ReactNode, useMemo, useRef } from "react";
import classes from "./json-view.module.css";
import { textLines } from "./text-lines.ts";
import { useWindowedRows } from "./windowed-rows.ts";

/** Height of a line, pixels. Also in the style sheet. */
const LINE_HEIGHT = 20;

interface Props {
  readonly label: string;
  readonly text: string;
}

/** A text of any length. Only the lines in sight are rendered. */
export function TextView({ label, text }: Props): ReactNode {
  const lines = useMemo(() => textLines(text), [text]);
  const scroller = useRef<HTMLElement>(null);
  const { from, to } = useWindowedRows(scroller, lines.length, LINE_HEIGHT);
  const height: CSSProperties = { height: lines.length * LINE_HEIGHT };
  const offset: CSSProperties = { transform: `translateY(${from * LINE_HEIGHT}px)` };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section ref={scroller} className={classes.view} aria-label={label} tabIndex={0} dir="ltr">
      <div style={height}>
        <div style={offset}>
          {lines.slice(from, to).map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has no identity but its number
            <div key={from + index} className={classes.textLine}>
              {line}
            </div>
          ))}
        </div>
      </div>
    </section>
  );
}
