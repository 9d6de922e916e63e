/** Number of filters whose rows are cached per state of a list. */
const KEPT_MAX = 50;

/**
 * Caches the filtered rows of lists in memory: a list is filtered once per filter, so paging costs only the page. A
 * changed list is a different object. `compare` returns the order that the filters ask for, undefined for that of the
 * rows.
 */
export function cachedFilter<Row extends object, Filters extends object>(
  fits: (row: Row, filters: Filters) => boolean,
  compare?: (filters: Filters) => ((one: Row, other: Row) => number) | undefined,
): (rows: readonly Row[], filters: Filters) => readonly Row[] {
  const found = new WeakMap<readonly Row[], Map<string, readonly Row[]>>();
  return (rows, filters) => {
    const known = found.get(rows) ?? new Map<string, readonly Row[]>();
    found.set(rows, known);
    const name = JSON.stringify(Object.entries(filters).sort());
    const kept = known.get(name);
    if (kept !== undefined) return kept;
    const fitting = rows.filter((row) => fits(row, filters));
    const order = compare?.(filters);
    if (order !== undefined) fitting.sort(order);
    if (known.size >= KEPT_MAX) known.clear();
    known.set(name, fitting);
    return fitting;
  };
}
