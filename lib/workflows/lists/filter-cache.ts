/** Filters whose rows are kept for one state of a list. */
const KEPT_MAX = 50;

/**
 * Filters lists that are in memory as a whole: each list once by the same filters, so that paging through it costs no
 * more than the page. A list that has changed is another list.
 */
export function cachedFilter<Row extends object, Filters extends object>(
  fits: (row: Row, filters: Filters) => boolean,
): (rows: readonly Row[], filters: Filters) => readonly Row[] {
  const found = new WeakMap<readonly Row[], Map<string, readonly Row[]>>();
  return (rows, filters) => {
    const known = found.get(rows) ?? new Map<string, readonly Row[]>();
    found.set(rows, known);
    const name = JSON.stringify(Object.entries(filters).sort());
    const kept = known.get(name);
    if (kept !== undefined) return kept;
    const fitting = rows.filter((row) => fits(row, filters));
    if (known.size >= KEPT_MAX) known.clear();
    known.set(name, fitting);
    return fitting;
  };
}
