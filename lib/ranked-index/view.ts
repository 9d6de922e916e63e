import { segmentOf } from "./block-positions.ts";
import type { Row } from "./deltas.ts";
import { SEGMENT_SIZE, type Selection } from "./postings.ts";
import { toNeedle } from "./search-text.ts";
import { termOf } from "./table.ts";

export interface FieldFilter {
  readonly field: string;
  readonly value: string;
  /** Matches all records except those with the value. */
  readonly negated?: boolean;
}

/** The records whose text contains this, ignoring case; the empty text matches every record. */
export interface TextFilter {
  readonly contains: string;
}

export type Filter = FieldFilter | TextFilter;

export interface FoundRecord {
  readonly number: number;
  readonly key: string;
}

/** A filter by the name of its set. */
export interface TermTest {
  readonly term: string;
  readonly negated: boolean;
}

/** The conditions of filters. */
export interface Tests {
  readonly terms: readonly TermTest[];
  /** Substrings of the text, normalized for search. */
  readonly needles: readonly string[];
}

export function toTests(filters: readonly Filter[]): Tests {
  const terms: TermTest[] = [];
  const needles = new Set<string>();
  for (const filter of filters) {
    if ("contains" in filter) needles.add(toNeedle(filter.contains));
    else terms.push({ term: termOf(filter.field, filter.value), negated: filter.negated ?? false });
  }
  needles.delete("");
  return { terms, needles: [...needles] };
}

export const matchesTests = ({ terms, text = "" }: Pick<Row, "terms" | "text">, tests: Tests): boolean =>
  tests.terms.every(({ term, negated }) => terms.includes(term) !== negated) &&
  tests.needles.every((needle) => text.includes(needle));

/** The parts of a view, all of one instant. */
export interface ViewParts {
  /** Records up to this number were removed. */
  readonly low: number;
  /** Records up to this number are in blocks. */
  readonly merged: number;
  /** All later records, in order. */
  readonly rows: readonly Row[];
  /** Number of those records. */
  readonly count: number;
  /** Those of them that match, oldest first. */
  readonly passing: readonly FoundRecord[];
  /** The matching records of each segment, the highest segment first. */
  readonly selections: readonly { readonly segment: number; readonly selection: Selection }[];
  /** Reads the keys of numbers up to `mergeResults`. */
  readonly readKeys: (numbers: readonly number[]) => Promise<string[]>;
}

/** The records that match some filters, at one instant. */
export class View {
  readonly #parts: ViewParts;
  /** Number of matching records. */
  readonly total: number;
  /** The last number assigned by then. */
  readonly last: number;

  constructor(parts: ViewParts) {
    this.#parts = parts;
    this.last = parts.merged + parts.count;
    this.total = parts.selections.reduce((sum, { selection }) => sum + selection.count, parts.passing.length);
  }

  /** Numbers up to this one were in blocks. */
  get merged(): number {
    return this.#parts.merged;
  }

  /** The matching records, newest first, from `offset`, at most `limit`; fewer if some were removed since. */
  async page({ offset, limit }: { offset: number; limit: number }): Promise<FoundRecord[]> {
    const { passing, selections, readKeys } = this.#parts;
    const end = Math.max(0, passing.length - offset);
    const found = passing.slice(Math.max(0, end - limit), end).reverse();
    const numbers: number[] = [];
    let before = passing.length;
    for (const { segment, selection } of selections) {
      const skip = Math.max(0, offset - before);
      const left = limit - found.length - numbers.length;
      if (left <= 0) break;
      for (const position of selection.pick(skip, left)) numbers.push(segment * SEGMENT_SIZE + position + 1);
      before += selection.count;
    }
    const keys = await readKeys(numbers);
    const older = numbers.map((number, index) => ({ number, key: keys[index] ?? "" }));
    return [...found, ...older.filter(({ key }) => key !== "")];
  }

  /** The keys of all records with a higher number. */
  async keysAfter(number: number): Promise<string[]> {
    const { low, merged, rows, count, readKeys } = this.#parts;
    const from = Math.max(low, number);
    const numbers = Array.from({ length: Math.max(0, merged - from) }, (_, index) => from + 1 + index);
    const recent = rows.slice(Math.max(0, from - merged), count);
    const older = (await readKeys(numbers)).filter((key) => key !== "");
    return [...older, ...recent.map(({ key }) => key)];
  }
}

/** The segments with numbers after `low` up to `mergeResults`, the highest first. */
export function segmentsOf(low: number, merged: number): number[] {
  if (merged <= low) return [];
  const lowest = segmentOf(low + 1);
  const count = segmentOf(merged) - lowest + 1;
  return Array.from({ length: count }, (_, index) => lowest + count - 1 - index);
}
