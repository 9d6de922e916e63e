import type { ReactNode } from "react";
import classes from "./facts.module.css";

/** Facts with their names, in lines. */
export const Facts = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <dl className={classes.facts}>{children}</dl>
);

interface FactProps {
  readonly name: string;
  readonly children: ReactNode;
}

export const Fact = ({ name, children }: FactProps): ReactNode => (
  <div>
    <dt>{name}</dt>
    <dd dir="auto">{children}</dd>
  </div>
);
