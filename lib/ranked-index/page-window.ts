/** A page of a list, by the number of records before it. */
interface Window {
  readonly offset: number;
  readonly limit: number;
}

/** The same records counted from the other end of a list with this total, where they are in reverse order. */
export function fromOtherEnd(total: number, { offset, limit }: Window): Window {
  const end = Math.max(0, total - offset);
  const start = Math.max(0, end - limit);
  return { offset: start, limit: end - start };
}

/** The records of a page of a list that is in memory, newest first. */
export const pageIn = <Item>(
  newestFirst: readonly Item[],
  { offset, limit, oldestFirst = false }: Window & { readonly oldestFirst?: boolean },
): readonly Item[] => (oldestFirst ? newestFirst.toReversed() : newestFirst).slice(offset, offset + limit);
