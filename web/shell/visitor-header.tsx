import type { ReactNode } from "react";
import { Link } from "wouter";
import { Brand } from "./brand.tsx";
import classes from "./visitor-header.module.css";

interface Props {
  /** What a visitor can do. */
  readonly children: ReactNode;
}

/** The bar above what is shown without a session. */
export const VisitorHeader = ({ children }: Props): ReactNode => (
  <header className={classes.header}>
    <Link href="/">
      <Brand />
    </Link>
    {children}
  </header>
);
