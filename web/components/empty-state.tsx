import type { ReactNode } from "react";
import classes from "./notice.module.css";

interface Props {
  readonly text: string;
  /** What to do first. */
  readonly action?: ReactNode;
}

export const EmptyState = ({ text, action }: Props): ReactNode => (
  <div className={classes.notice}>
    <p>{text}</p>
    {action}
  </div>
);
