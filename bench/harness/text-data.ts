/** Texts of the benchmark of full-text search: pronounceable words whose frequencies follow Zipf's law. */

const TEXT_LENGTH = 2_000;
const VOCABULARY = 40_000;
const SYLLABLES = "ba ko ri tu men sal dor fi ge lum pa ne xo vi qua zer chi pla tro ste".split(" ");
const PARAGRAPH_WORDS = 40;
/** Ranks of words: 0 is the most frequent one. */
const COMMON = [150, 160] as const;
const RARE = 30_000;

/** A generator of numbers from 0 to before 1 (xorshift), the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = (seed + 1) * 2_654_435_761;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** The number's digits as syllables; the last one differs from all others, so that no word is the beginning of another. */
function wordOf(rank: number): string {
  let word = "";
  for (let left = rank; left > 0 || word === ""; left = Math.floor(left / SYLLABLES.length))
    word = `${SYLLABLES[left % SYLLABLES.length]}${word}`;
  return `${word}n`;
}

const words = Array.from({ length: VOCABULARY }, (_, rank) => wordOf(rank));
const sums = new Float64Array(VOCABULARY);
let sum = 0;
for (let rank = 0; rank < VOCABULARY; rank += 1) {
  sum += 1 / (rank + 2.7);
  sums[rank] = sum;
}

function pick(random: number): string {
  const wanted = random * sum;
  let [low, high] = [0, VOCABULARY - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sums[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return words[low] ?? "";
}

/** Paragraphs of 2 KB in total, the same for the same number. */
export function paragraphsOf(number: number): string[] {
  const random = randomFrom(number);
  const paragraphs: string[] = [];
  for (let length = 0; length < TEXT_LENGTH; ) {
    const paragraph = Array.from({ length: PARAGRAPH_WORDS }, () => pick(random())).join(" ");
    paragraphs.push(paragraph.slice(0, TEXT_LENGTH - length));
    length += paragraph.length + 1;
  }
  return paragraphs;
}

export const COMMON_WORDS: readonly string[] = COMMON.map(wordOf);
export const RARE_WORD = wordOf(RARE);
/** Two frequent words that follow each other: a third of the texts contain each. */
export const PHRASE = [60, 61].map(wordOf).join(" ");
