import { type CSSProperties, type ReactNode, useRef } from "react";
import { useLocation } from "wouter";
import { useQueryParameters } from "./query-parameters.ts";
import { useRowKeys } from "./row-keys.ts";
import classes from "./table.module.css";

export interface Column {
  readonly name: string;
  /** Numbers are at the end of their column. The name of a column of actions is only read aloud. */
  readonly kind?: "number" | "actions";
  /** The field by which the service sorts the list; the header is a button then. */
  readonly sort?: string;
}

interface Props {
  readonly label: string;
  readonly columns: readonly Column[];
  /** How the list is sorted if the address does not say it: a field, after `-` in reverse. */
  readonly order?: string;
  /** Rows, each with a link in its `th`, the target of the arrow keys. */
  readonly children: ReactNode;
}

/**
 * A table with a sticky header whose rows are reached with the arrow keys. The header of a sorted column is a button; the
 * order is in the address.
 */
export function Table({ label, columns, order, children }: Props): ReactNode {
  const table = useRef<HTMLTableElement>(null);
  useRowKeys(table);
  const [, navigate] = useLocation();
  const [parameters, hrefWith] = useQueryParameters();
  const ordering = parameters.get("ordering") ?? order;
  const sortBy = (field: string): void => {
    // After both directions, the list is again as it was without a choice.
    const isLast = ordering === `-${field}` && ordering !== order;
    const next = ordering === field ? `-${field}` : isLast ? order : field;
    navigate(hrefWith({ ordering: next === order ? undefined : next, page: undefined }));
  };
  // Where the table is narrow, its style sheet shows the name of a column before a number or a time.
  const names = Object.fromEntries(
    columns.map(({ name }, index) => [`--column-${index + 1}`, JSON.stringify(`${name}: `)]),
  ) as CSSProperties;
  return (
    <div className={classes.container}>
      <table ref={table} className={classes.table} aria-label={label} style={names}>
        <thead>
          <tr>
            {columns.map(({ name, kind, sort }) => (
              <th
                key={name}
                scope="col"
                className={kind === "number" ? classes.number : undefined}
                aria-sort={sort === undefined ? undefined : directionOf(sort, ordering)}
              >
                {sort !== undefined ? (
                  <button type="button" className={classes.sort} onClick={() => sortBy(sort)}>
                    {name}
                  </button>
                ) : kind === "actions" ? (
                  <span className="hidden">{name}</span>
                ) : (
                  name
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function directionOf(field: string, ordering: string | undefined): "ascending" | "descending" | undefined {
  if (ordering === field) return "ascending";
  return ordering === `-${field}` ? "descending" : undefined;
}
