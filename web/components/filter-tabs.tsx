import type { ReactNode } from "react";
import { Link } from "wouter";
import classes from "./filter-tabs.module.css";

interface Props {
  readonly label: string;
  readonly tabs: readonly { readonly name: string; readonly href: string; readonly isCurrent: boolean }[];
}

/** Scrolls to the current tab, where the tabs are wider than the screen. */
function revealCurrent(list: HTMLUListElement | null): void {
  const tab = list?.querySelector<HTMLElement>("[aria-current]");
  if (!list || !tab) return;
  list.scrollLeft = tab.offsetLeft + tab.offsetWidth - list.offsetLeft - list.clientWidth;
}

/** Links to the parts of a list; which one is shown is in the address. */
export const FilterTabs = ({ label, tabs }: Props): ReactNode => (
  <nav aria-label={label} className={classes.nav}>
    <ul ref={revealCurrent} className={classes.tabs}>
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
