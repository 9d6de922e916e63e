import type { ReactNode } from "react";
import { Link } from "wouter";
import classes from "./filter-tabs.module.css";

interface Props {
  readonly label: string;
  readonly tabs: readonly { readonly name: string; readonly href: string; readonly isCurrent: boolean }[];
}

/** Links to the parts of a list; which one is shown is in the address. */
export const FilterTabs = ({ label, tabs }: Props): ReactNode => (
  <nav aria-label={label}>
    <ul className={classes.tabs}>
      {tabs.map(({ name, href, isCurrent }) => (
        <li key={href}>
          <Link href={href} className={classes.tab} aria-current={isCurrent ? "page" : undefined}>
            {name}
          </Link>
        </li>
      ))}
    </ul>
  </nav>
);
