import { toNeedle } from "./search-text.ts";

/** Separates the parts of a text that are searched separately; it occurs in no part. */
const PART_SEPARATOR = "\u001f";

/** The text that consists of these parts. */
export const joinParts = (parts: readonly string[]): string =>
  parts.map((part) => part.replaceAll(PART_SEPARATOR, " ")).join(PART_SEPARATOR);

/** The records whose text contains this, ignoring case; the empty text matches every record. */
export interface TextFilter {
  readonly contains: string;
  /** The part of the text that contains it, from 0; anywhere in the text if undefined. */
  readonly part?: number;
}

/** The records of which a part of the text is within a range by code units; those without the part do not match. */
export interface RangeFilter {
  readonly part: number;
  /** Inclusive. */
  readonly from?: string | undefined;
  /** Exclusive. */
  readonly until?: string | undefined;
}

/** A condition on normalized texts. */
export interface TextTest {
  /** Identifies the condition. */
  readonly name: string;
  /** Every matching text contains it. */
  readonly needle: string;
  /** What a text that contains the needle must fulfil in addition. */
  readonly fits?: (text: string) => boolean;
}

/** The condition of a filter; undefined if every record fulfils it. */
export function toTextTest(filter: TextFilter | RangeFilter): TextTest | undefined {
  if (!("contains" in filter)) return rangeTest(filter);
  const { part } = filter;
  const needle = toNeedle(part === undefined ? filter.contains : joinParts([filter.contains]));
  if (needle === "") return undefined;
  if (part === undefined) return { name: needle, needle };
  return {
    name: `${PART_SEPARATOR}${part} ${needle}`,
    needle,
    fits: (text) => partOf(text, part).includes(needle),
  };
}

function rangeTest({ part, from = "", until }: RangeFilter): TextTest {
  const fits = (text: string): boolean => {
    const value = partOf(text, part);
    return value !== "" && value >= from && (until === undefined || value < until);
  };
  return { name: `${PART_SEPARATOR}${part} ${JSON.stringify([from, until])}`, needle: "", fits };
}

const partOf = (text: string, part: number): string => text.split(PART_SEPARATOR, part + 1)[part] ?? "";

export const matchesText = (text: string, { needle, fits }: TextTest): boolean =>
  text.includes(needle) && (fits === undefined || fits(text));
