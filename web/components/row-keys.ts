import { type RefObject, useEffect } from "react";
import { isField } from "../shell/shortcuts.ts";

/** What is focused in a row: the link that opens it. */
const ROWS = "th[scope='row'] a, [data-row]";
/** Where the focus is before a key was pressed. */
const isStartOfPage = (element: Element | null): boolean =>
  element === null || element === document.body || element.id === "main";

/**
 * Up, Down, Home and End move the focus among the rows of a list; Enter follows the link of the row, like any link.
 * From the beginning of the page, Down leads to the first row. A row is marked by `data-row`, or is that of a table.
 */
export function useRowKeys(list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const hasModifier = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
      const focused = document.activeElement;
      if (event.defaultPrevented || hasModifier || isField(focused)) return;
      const isInside = list.current?.contains(focused) ?? false;
      if (!isInside && !(event.key === "ArrowDown" && isStartOfPage(focused))) return;
      const rows = [...(list.current?.querySelectorAll<HTMLElement>(ROWS) ?? [])];
      const current = rows.findIndex((row) => (row.closest("tr, li") ?? row).contains(focused));
      const next = rows[positionAfter(event.key, current, rows.length) ?? -1];
      if (next === undefined) return;
      event.preventDefault();
      next.focus();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [list]);
}

function positionAfter(key: string, current: number, count: number): number | undefined {
  if (key === "ArrowDown") return Math.min(current + 1, count - 1);
  if (key === "ArrowUp") return Math.max(current - 1, 0);
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return undefined;
}
