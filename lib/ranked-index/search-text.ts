import type { TextTest } from "./text-filters.ts";

/** Characters of a text that are searched; the rest is ignored. At most 96 KB in UTF-8. */
export const TEXT_MAX = 32_768;

/**
 * A text normalized for storage and search: lower case, truncated and well-formed, because tables store no unpaired
 * surrogates.
 */
export const searchable = (text: string): string => toNeedle(text).slice(0, TEXT_MAX).toWellFormed();

/** A needle, normalized like texts. */
export const toNeedle = (text: string): string => text.toLowerCase().toWellFormed();

/** Texts of a range of numbers, joined. */
export interface JoinedTexts {
  readonly joined: string;
  /** End position of each text. */
  readonly ends: Uint32Array;
}

export function joinTexts(texts: readonly string[]): JoinedTexts {
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (const [offset, text] of texts.entries()) {
    end += text.length;
    ends[offset] = end;
  }
  return { joined: texts.join(""), ends };
}

/** The text at a position. */
export const textAt = ({ joined, ends }: JoinedTexts, offset: number): string =>
  joined.slice(offset === 0 ? 0 : ends[offset - 1], ends[offset] ?? 0);

/** Calls `found` with the positions of the texts that fulfil a condition, in order. */
export function searchTexts(
  texts: JoinedTexts,
  { needle, fits }: TextTest,
  found: (offset: number) => void,
): void {
  const { joined, ends } = texts;
  const check = (offset: number): void => {
    if (fits === undefined || fits(textAt(texts, offset))) found(offset);
  };
  if (needle === "") {
    for (const offset of ends.keys()) check(offset);
    return;
  }
  let offset = 0;
  for (let at = joined.indexOf(needle); at >= 0; ) {
    while ((ends[offset] ?? 0) <= at) offset += 1;
    const end = ends[offset] ?? 0;
    // A match that extends into the next text is in neither of them, and no later match starting in this text ends
    // earlier.
    if (at + needle.length <= end) check(offset);
    at = joined.indexOf(needle, end);
  }
}
