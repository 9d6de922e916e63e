/** Maximum edit distance as a share of the word's length. */
const WRONG_SHARE = 0.5;
const WORD_CHARS_MAX = 64;

/** ` Did you mean 'x'?` with the most similar word; empty if none is similar. */
export function suggestion(written: string, words: Iterable<string>): string {
  if (written === "" || written.length > WORD_CHARS_MAX) return "";
  let nearest: string | undefined;
  let least = Math.max(2, Math.ceil(written.length * WRONG_SHARE));
  for (const word of words) {
    const wrong = word.startsWith(written) ? 1 : distance(written, word);
    if (wrong < least) {
      nearest = word;
      least = wrong;
    }
  }
  return nearest === undefined ? "" : ` Did you mean '${nearest}'?`;
}

/** Edit distance with insertions, deletions, substitutions and swaps of adjacent letters. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
