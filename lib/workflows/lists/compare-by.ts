/**
 * Returns a comparison by the field that an ordering names, reversed after `-`. Rows with the same value are equal, so
 * a stable sort keeps their order.
 */
export function compareBy<Row>(
  ordering: string,
  sortValue: (row: Row, field: string) => string | number,
): (one: Row, other: Row) => number {
  const way = ordering.startsWith("-") ? -1 : 1;
  const field = ordering.replace("-", "");
  return (one, other) => {
    const [before, after] = [sortValue(one, field), sortValue(other, field)];
    return before === after ? 0 : before < after ? -way : way;
  };
}
