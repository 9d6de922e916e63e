import type { ReactNode } from "react";
import classes from "./page-header.module.css";
import { useWindowTitle } from "./window-title.ts";

interface Props {
  readonly title: string;
  /** Facts in one line below the title. */
  readonly facts?: ReactNode;
  /** Plain actions, and the primary one at the end. */
  readonly action?: ReactNode;
}

export function PageHeader({ title, facts, action }: Props): ReactNode {
  useWindowTitle(title);
  return (
    <header className={classes.header}>
      <h1>{title}</h1>
      {action !== undefined && <div className={classes.actions}>{action}</div>}
      {facts !== undefined && <div className={classes.facts}>{facts}</div>}
    </header>
  );
}
