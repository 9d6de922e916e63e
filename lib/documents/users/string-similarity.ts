/** Returns the Levenshtein distance of two texts, or undefined if it exceeds `most`. */
export function editDistance(one: string, other: string, most: number): number | undefined {
  if (Math.abs(one.length - other.length) > most) return undefined;
  const beyond = most + 1;
  let above = new Uint8Array(other.length + 2).fill(beyond);
  let line = new Uint8Array(other.length + 2).fill(beyond);
  for (let column = 0; column <= Math.min(most, other.length); column += 1) above[column] = column;
  for (let row = 1; row <= one.length; row += 1) {
    // Cells further from the diagonal always exceed `most`.
    const from = Math.max(1, row - most);
    const to = Math.min(other.length, row + most);
    line[from - 1] = from === 1 ? Math.min(row, beyond) : beyond;
    let least = line[from - 1] ?? beyond;
    const letter = one.charCodeAt(row - 1);
    for (let column = from; column <= to; column += 1) {
      let cost = (above[column - 1] ?? beyond) + (letter === other.charCodeAt(column - 1) ? 0 : 1);
      cost = Math.min(cost, (above[column] ?? beyond) + 1, (line[column - 1] ?? beyond) + 1, beyond);
      line[column] = cost;
      if (cost < least) least = cost;
    }
    line[to + 1] = beyond;
    if (least > most) return undefined;
    [above, line] = [line, above];
  }
  const distance = above[other.length] ?? beyond;
  return distance <= most ? distance : undefined;
}

const WORDS = /[\p{L}\p{N}]+/gu;
/** Bits kept per letter: enough to distinguish the letters of one script. */
const LETTER_BITS = 10;
const LETTER_MASK = 2 ** LETTER_BITS - 1;

/**
 * Returns the sorted, unique trigrams of a text's words. Words are padded with two blanks at the start and one at the
 * end.
 */
export function trigrams(text: string): Uint32Array {
  const found = new Set<number>();
  for (const [word] of text.matchAll(WORDS)) {
    const padded = `  ${word} `;
    for (let at = 0; at + 2 < padded.length; at += 1) {
      const [first, second, third] = [at, at + 1, at + 2].map(
        (each) => padded.charCodeAt(each) & LETTER_MASK,
      );
      found.add(((first ?? 0) << (2 * LETTER_BITS)) | ((second ?? 0) << LETTER_BITS) | (third ?? 0));
    }
  }
  return Uint32Array.from(found).sort();
}

/** Returns the share of common trigrams among all trigrams of both: 0 to 1. */
export function similarity(one: Uint32Array, other: Uint32Array): number {
  let both = 0;
  for (let at = 0, beside = 0; at < one.length && beside < other.length; ) {
    const [left = 0, right = 0] = [one[at], other[beside]];
    if (left === right) both += 1;
    if (left <= right) at += 1;
    if (right <= left) beside += 1;
  }
  const either = one.length + other.length - both;
  return either === 0 ? 0 : both / either;
}
