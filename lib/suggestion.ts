import { distance } from "fastest-levenshtein";

/** Maximum edit distance as a share of the word's length. */
const WRONG_SHARE = 0.5;
const WORD_CHARS_MAX = 64;

/** ` Did you mean 'x'?` with the most similar word; empty if none is similar. */
export function suggestion(written: string, words: Iterable<string>): string {
  if (written === "" || written.length > WORD_CHARS_MAX) return "";
  let nearest: string | undefined;
  let least = Math.max(2, Math.ceil(written.length * WRONG_SHARE));
  for (const word of words) {
    const wrong = word.startsWith(written) || isSwapped(written, word) ? 1 : distance(written, word);
    if (wrong < least) {
      nearest = word;
      least = wrong;
    }
  }
  return nearest === undefined ? "" : ` Did you mean '${nearest}'?`;
}

/** Whether the words differ by a swap of two adjacent letters, a frequent error, which has an edit distance of 2. */
function isSwapped(a: string, b: string): boolean {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return `${a.slice(0, at)}${a[at + 1] ?? ""}${a[at] ?? ""}${a.slice(at + 2)}` === b;
}
