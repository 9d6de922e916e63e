/** Characters of a text that are searched; what comes after them is not. At most 96 KB in UTF-8. */
export const TEXT_MAX = 32_768;

/** A text as it is kept and searched: in small letters, and without halves of characters, as tables keep none. */
export const searchable = (text: string): string => toNeedle(text).slice(0, TEXT_MAX).toWellFormed();

/** What is looked for, as texts are kept. */
export const toNeedle = (text: string): string => text.toLowerCase().toWellFormed();

/** Texts of a run of numbers, joined. */
export interface JoinedTexts {
  readonly joined: string;
  /** Where each of them ends. */
  readonly ends: Uint32Array;
}

export function joinTexts(texts: readonly string[]): JoinedTexts {
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (const [place, text] of texts.entries()) {
    end += text.length;
    ends[place] = end;
  }
  return { joined: texts.join(""), ends };
}

/** The text at a place. */
export const textAt = ({ joined, ends }: JoinedTexts, place: number): string =>
  joined.slice(place === 0 ? 0 : ends[place - 1], ends[place] ?? 0);

/** Tells the places of the texts that have a needle in them, in order; the needle is not empty. */
export function searchTexts(
  { joined, ends }: JoinedTexts,
  needle: string,
  found: (place: number) => void,
): void {
  let place = 0;
  for (let at = joined.indexOf(needle); at >= 0; ) {
    while ((ends[place] ?? 0) <= at) place += 1;
    const end = ends[place] ?? 0;
    // What reaches into the next text is in neither of them, and nothing that begins later here ends sooner.
    if (at + needle.length <= end) found(place);
    at = joined.indexOf(needle, end);
  }
}
