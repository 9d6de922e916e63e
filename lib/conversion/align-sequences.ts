/** Positions of equal items in two sequences. Both increase from pair to pair. */
export type Pair = readonly [at: number, otherAt: number];

/**
 * Aligns two sequences of keys and returns the pairs of equal keys, as a diff does: items that occur once in both are
 * fixed first, and the parts between them are aligned in the same way. The empty key equals nothing. Takes about
 * n log n steps, because a longest common subsequence would take n² for texts that have nothing in common.
 */
export function alignSequences(some: readonly string[], others: readonly string[]): Pair[] {
  const pairs: Pair[] = [];
  const left: Part[] = [{ start: 0, end: some.length, otherStart: 0, otherEnd: others.length }];
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    let { start, end, otherStart, otherEnd } = part;
    const isEqual = (at: number, otherAt: number): boolean => some[at] !== "" && some[at] === others[otherAt];
    while (start < end && otherStart < otherEnd && isEqual(start, otherStart))
      pairs.push([start++, otherStart++]);
    while (start < end && otherStart < otherEnd && isEqual(end - 1, otherEnd - 1))
      pairs.push([--end, --otherEnd]);
    const fixed = increasing(candidates(some, others, { start, end, otherStart, otherEnd }));
    if (fixed.length === 0) continue;
    for (const [at, otherAt] of [...fixed, [end, otherEnd] as const]) {
      left.push({ start, end: at, otherStart, otherEnd: otherAt });
      if (at < end) pairs.push([at, otherAt]);
      [start, otherStart] = [at + 1, otherAt + 1];
    }
  }
  return pairs.sort(([a], [b]) => a - b);
}

/** A part of each of two sequences. */
export interface Part {
  readonly start: number;
  readonly end: number;
  readonly otherStart: number;
  readonly otherEnd: number;
}

/** Pairs of keys that occur once in both parts; without any, of the first, second, third … occurrence of each key. */
function candidates(some: readonly string[], others: readonly string[], part: Part): Pair[] {
  const [places, otherPlaces] = [
    placesOf(some, part.start, part.end),
    placesOf(others, part.otherStart, part.otherEnd),
  ];
  const unique: Pair[] = [];
  const repeated: Pair[] = [];
  for (const [key, found] of places) {
    const otherFound = otherPlaces.get(key) ?? [];
    for (const [nth, at] of found.entries()) {
      const otherAt = otherFound[nth];
      if (otherAt === undefined) break;
      (found.length === 1 && otherFound.length === 1 ? unique : repeated).push([at, otherAt]);
    }
  }
  return (unique.length > 0 ? unique : repeated).sort(([a], [b]) => a - b);
}

function placesOf(keys: readonly string[], start: number, end: number): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (let at = start; at < end; at += 1) {
    const key = keys[at] ?? "";
    if (key === "") continue;
    const found = places.get(key);
    if (found === undefined) places.set(key, [at]);
    else found.push(at);
  }
  return places;
}

/** The longest part of the pairs whose second positions increase, too (patience sorting). */
function increasing(pairs: readonly Pair[]): Pair[] {
  /** For each length, the index of the pair that ends a subsequence of this length with the smallest position. */
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [index, [, otherAt]] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] as number] as Pair)[1] < otherAt) low = middle + 1;
      else high = middle;
    }
    previous.push(low > 0 ? (ends[low - 1] as number) : -1);
    ends[low] = index;
  }
  const found: Pair[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] as number)
    found.push(pairs[index] as Pair);
  return found.reverse();
}

/** The parts of both sequences between the pairs, in order. */
export function* partsBetween(pairs: readonly Pair[], length: number, otherLength: number): Generator<Part> {
  let [start, otherStart] = [0, 0];
  for (const [end, otherEnd] of [...pairs, [length, otherLength] as const]) {
    if (start < end || otherStart < otherEnd) yield { start, end, otherStart, otherEnd };
    [start, otherStart] = [end + 1, otherEnd + 1];
  }
}
