/**
 * Sets of positions inside a segment: a sorted array for small sets, a bitmap for large ones. All functions are pure
 * except `add` and `remove`, which return the set to use from then on.
 */

/** Numbers per segment. */
export const SEGMENT_SIZE = 65_536;
/** Words of a bitmap. */
export const WORDS = SEGMENT_SIZE / 32;
/** Maximum number of positions in an array: beyond it, a bitmap is smaller. */
const SPARSE_MAX = 4_096;

/** Sorted positions; the first `count` are in use. */
export interface Sparse {
  readonly kind: "sparse";
  count: number;
  positions: Uint16Array;
}

export interface Dense {
  readonly kind: "dense";
  count: number;
  readonly words: Uint32Array;
}

export type Postings = Sparse | Dense;

export const emptyPostings = (): Postings => ({ kind: "sparse", count: 0, positions: new Uint16Array(8) });

/** A copy of the set. */
export function copyOf(set: Postings): Postings {
  if (set.kind === "dense") return { ...set, words: set.words.slice() };
  return { ...set, positions: set.positions.slice() };
}

export function has(set: Postings, position: number): boolean {
  if (set.kind === "dense") return ((set.words[position >>> 5] ?? 0) & (1 << (position & 31))) !== 0;
  const at = lowerBound(set, position);
  return at < set.count && set.positions[at] === position;
}

/** Adds a position; modifies the given set. */
export function add(set: Postings, position: number): Postings {
  if (set.kind === "dense") {
    if (!has(set, position)) {
      set.words[position >>> 5] = (set.words[position >>> 5] ?? 0) | (1 << (position & 31));
      set.count += 1;
    }
    return set;
  }
  const at = lowerBound(set, position);
  if (at < set.count && set.positions[at] === position) return set;
  if (set.count >= SPARSE_MAX) return add(toDense(set), position);
  if (set.count === set.positions.length) {
    const grown = new Uint16Array(Math.min(SPARSE_MAX, set.positions.length * 2));
    grown.set(set.positions);
    set.positions = grown;
  }
  set.positions.copyWithin(at + 1, at, set.count);
  set.positions[at] = position;
  set.count += 1;
  return set;
}

/** Removes a position; modifies the given set. */
export function remove(set: Postings, position: number): Postings {
  if (!has(set, position)) return set;
  if (set.kind === "dense") {
    set.words[position >>> 5] = (set.words[position >>> 5] ?? 0) & ~(1 << (position & 31));
  } else {
    const at = lowerBound(set, position);
    set.positions.copyWithin(at, at + 1, set.count);
  }
  set.count -= 1;
  return set;
}

function lowerBound(set: Sparse, position: number): number {
  // Positions mostly arrive in order: check the end first.
  if (set.count === 0 || (set.positions[set.count - 1] ?? 0) < position) return set.count;
  let low = 0;
  let high = set.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((set.positions[middle] ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

function toDense(set: Sparse): Dense {
  const words = new Uint32Array(WORDS);
  for (let index = 0; index < set.count; index += 1) {
    const position = set.positions[index] ?? 0;
    words[position >>> 5] = (words[position >>> 5] ?? 0) | (1 << (position & 31));
  }
  return { kind: "dense", count: set.count, words };
}

const SPARSE_MARK = 0;
const DENSE_MARK = 1;

/** The bytes of a set, to store in an item: at most 8 KB and a type byte. */
export function encode(set: Postings): Uint8Array {
  const body =
    set.kind === "sparse"
      ? new Uint8Array(set.positions.buffer, set.positions.byteOffset, set.count * 2)
      : new Uint8Array(set.words.buffer, set.words.byteOffset, set.words.byteLength);
  const bytes = new Uint8Array(1 + body.length);
  bytes[0] = set.kind === "sparse" ? SPARSE_MARK : DENSE_MARK;
  bytes.set(body, 1);
  return bytes;
}

export function decode(bytes: Uint8Array): Postings {
  const body = bytes.slice(1);
  if (bytes[0] === DENSE_MARK) {
    const words = new Uint32Array(body.buffer, body.byteOffset, WORDS);
    return { kind: "dense", count: popcount(words), words };
  }
  const positions = new Uint16Array(body.buffer, body.byteOffset, body.length >>> 1);
  return positions.length === 0 ? emptyPostings() : { kind: "sparse", count: positions.length, positions };
}

export function popcount(words: Uint32Array): number {
  let count = 0;
  for (let index = 0; index < words.length; index += 1) count += bitCount(words[index] ?? 0);
  return count;
}

function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/** A test by a set: its positions, or all others. */
export interface Term {
  readonly set: Postings;
  readonly negated: boolean;
}

/**
 * Positions from `from` to before `to` that are in every term: their number, and a way to select the k-th highest.
 * Iterates over the smallest array if there is one, otherwise over bitmap words.
 */
export function intersect(terms: readonly Term[], from: number, to: number): Selection {
  if (to <= from) return NOTHING;
  if (terms.some(({ set, negated }) => !negated && set.count === 0)) return NOTHING;
  const useful = terms.filter(({ set, negated }) => !(negated && set.count === 0));
  if (useful.length === 0) return rangeSelection(from, to);
  const smallest = useful
    .filter((term): term is Term & { set: Sparse } => !term.negated && term.set.kind === "sparse")
    .sort((a, b) => a.set.count - b.set.count)[0];
  if (smallest !== undefined) return sparseSelection(smallest, useful, from, to);
  return denseSelection(useful, from, to);
}

export interface Selection {
  readonly count: number;
  /** Positions, highest first, after the first `skip`, at most `take`. */
  pick(skip: number, take: number): number[];
}

const NOTHING: Selection = { count: 0, pick: () => [] };

function rangeSelection(from: number, to: number): Selection {
  const count = to - from;
  return {
    count,
    pick: (skip, take) =>
      Array.from({ length: Math.max(0, Math.min(take, count - skip)) }, (_, index) => to - 1 - skip - index),
  };
}

function sparseSelection(
  base: Term & { set: Sparse },
  terms: readonly Term[],
  from: number,
  to: number,
): Selection {
  const others = terms.filter((term) => term !== base);
  const found: number[] = [];
  for (let index = 0; index < base.set.count; index += 1) {
    const position = base.set.positions[index] ?? 0;
    if (position < from || position >= to) continue;
    if (others.every(({ set, negated }) => has(set, position) !== negated)) found.push(position);
  }
  return {
    count: found.length,
    pick: (skip, take) =>
      found.slice(Math.max(0, found.length - skip - take), Math.max(0, found.length - skip)).reverse(),
  };
}

function denseSelection(terms: readonly Term[], from: number, to: number): Selection {
  const result = new Uint32Array(WORDS).fill(0xffffffff);
  for (const { set, negated } of terms) {
    const words = set.kind === "dense" ? set.words : toDense(set).words;
    for (let index = 0; index < WORDS; index += 1) {
      const word = words[index] ?? 0;
      result[index] = (result[index] ?? 0) & (negated ? ~word : word);
    }
  }
  clip(result, from, to);
  return { count: popcount(result), pick: (skip, take) => pickWords(result, skip, take) };
}

/** Clears the bits below `from` and from `to` on. */
function clip(words: Uint32Array, from: number, to: number): void {
  words.fill(0, 0, from >>> 5);
  if ((from & 31) !== 0) words[from >>> 5] = (words[from >>> 5] ?? 0) & (0xffffffff << (from & 31));
  if (to >= SEGMENT_SIZE) return;
  words.fill(0, (to >>> 5) + 1);
  words[to >>> 5] = (to & 31) === 0 ? 0 : (words[to >>> 5] ?? 0) & (0xffffffff >>> (32 - (to & 31)));
}

function pickWords(words: Uint32Array, skip: number, take: number): number[] {
  const found: number[] = [];
  let left = skip;
  for (let index = words.length - 1; index >= 0 && found.length < take; index -= 1) {
    const bits = words[index] ?? 0;
    const count = bitCount(bits);
    if (left >= count) {
      left -= count;
      continue;
    }
    for (let bit = 31; bit >= 0 && found.length < take; bit -= 1) {
      if ((bits & (1 << bit)) === 0) continue;
      if (left > 0) left -= 1;
      else found.push(index * 32 + bit);
    }
  }
  return found;
}
