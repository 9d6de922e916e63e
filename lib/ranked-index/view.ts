import { segmentOf } from "./block-positions.ts";
import type { Row } from "./deltas.ts";
import { SEGMENT_SIZE, type Selection } from "./postings.ts";
import { termOf } from "./table.ts";
import { matchesText, type RangeFilter, type TextFilter, type TextTest, toTextTest } from "./text-filters.ts";

export interface FieldFilter {
  readonly field: string;
  readonly value: string;
  /** Matches all records except those with the value. */
  readonly negated?: boolean;
}

export type Filter = FieldFilter | TextFilter | RangeFilter;

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
  readonly texts: readonly TextTest[];
}

export function toTests(filters: readonly Filter[]): Tests {
  const terms: TermTest[] = [];
  const texts = new Map<string, TextTest>();
  for (const filter of filters) {
    if ("field" in filter) {
      terms.push({ term: termOf(filter.field, filter.value), negated: filter.negated ?? false });
      continue;
    }
    const test = toTextTest(filter);
    if (test !== undefined) texts.set(test.name, test);
  }
  return { terms, texts: [...texts.values()] };
}

export const matchesTests = ({ terms, text = "" }: Pick<Row, "terms" | "text">, tests: Tests): boolean =>
  tests.terms.every(({ term, negated }) => terms.includes(term) !== negated) &&
  tests.texts.every((test) => matchesText(text, test));

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

  /** Records up to this number were removed. */
  get low(): number {
    return this.#parts.low;
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

  /**
   * The matching records, oldest first, at most `limit`, without those that were removed since; and the number up to
   * which these are all.
   */
  async oldest(limit: number): Promise<{ readonly found: readonly FoundRecord[]; readonly last: number }> {
    const { passing, selections, readKeys } = this.#parts;
    const numbers: number[] = [];
    for (const { segment, selection } of selections.toReversed()) {
      const left = limit - numbers.length;
      if (left <= 0) break;
      const picked = selection.pick(Math.max(0, selection.count - left), left);
      for (const position of picked.reverse()) numbers.push(segment * SEGMENT_SIZE + position + 1);
    }
    const keys = await readKeys(numbers);
    const recent = passing.slice(0, limit - numbers.length);
    const found = [...numbers.map((number, index) => ({ number, key: keys[index] ?? "" })), ...recent];
    const last = found.length < limit ? this.last : (found.at(-1)?.number ?? this.last);
    return { found: found.filter(({ key }) => key !== ""), last };
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
