import { type CSSProperties, type ReactNode, useRef } from "react";
import { useRowKeys } from "./row-keys.ts";
import classes from "./table.module.css";

export interface Column {
  readonly name: string;
  /** Numbers are at the end of their column. The name of a column of actions is only read aloud. */
  readonly kind?: "number" | "actions";
}

interface Props {
  readonly label: string;
  readonly columns: readonly Column[];
  /** Rows, each with a link in its `th`, the target of the arrow keys. */
  readonly children: ReactNode;
}

/** A table with a sticky header whose rows are reached with the arrow keys. */
export function Table({ label, columns, children }: Props): ReactNode {
  const table = useRef<HTMLTableElement>(null);
  useRowKeys(table);
  // Where the table is narrow, its style sheet shows the name of a column before a number or a time.
  const names = Object.fromEntries(
    columns.map(({ name }, index) => [`--column-${index + 1}`, JSON.stringify(`${name}: `)]),
  ) as CSSProperties;
  return (
    <div className={classes.container}>
      <table ref={table} className={classes.table} aria-label={label} style={names}>
        <thead>
          <tr>
            {columns.map(({ name, kind }) => (
              <th key={name} scope="col" className={kind === "number" ? classes.number : undefined}>
                {kind === "actions" ? <span className="hidden">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
