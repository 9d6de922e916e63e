/** A thread in the order of the text. */
interface Placed {
  /** Where the text is that it is about, px; undefined for the document as a whole. */
  readonly wanted: number | undefined;
  readonly height: number;
}

/**
 * Where each thread is, px: beside its text, without covering another one. The chosen thread is exactly beside its
 * text unless the threads before it do not fit above it.
 */
export function alignThreads(threads: readonly Placed[], chosen: number, gap: number): readonly number[] {
  const tops = placeBelow(threads, gap);
  const wanted = threads[chosen]?.wanted;
  if (wanted === undefined) return tops;
  const above: number[] = [];
  let end = Math.max(wanted, 0);
  for (const { height, wanted: own } of threads.slice(0, chosen).toReversed()) {
    const top = Math.min(own ?? end, end - gap - height);
    above.unshift(top);
    end = top;
  }
  if (end < 0) return tops;
  return [...above, ...placeBelow(threads.slice(chosen), gap)];
}

/** Each thread is beside its text, or below the one before it. */
function placeBelow(threads: readonly Placed[], gap: number): readonly number[] {
  let end = 0;
  return threads.map(({ wanted, height }) => {
    const top = Math.max(wanted ?? end, end);
    end = top + height + gap;
    return top;
  });
}
