import { type ReactNode, useMemo } from "react";
import classes from "./json-view.module.css";
import { textLines } from "./text-lines.ts";
import { WindowedLines } from "./windowed-lines.tsx";

interface Props {
  readonly label: string;
  readonly text: string;
}

/** A text of any length. */
export function TextView({ label, text }: Props): ReactNode {
  const lines = useMemo(() => textLines(text), [text]);
  return (
    <WindowedLines label={label} count={lines.length}>
      {(index) => (
        <div key={index} className={classes.textLine}>
          {lines[index]}
        </div>
      )}
    </WindowedLines>
  );
}
