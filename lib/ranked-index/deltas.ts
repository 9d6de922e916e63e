import { positionOf, segmentOf } from "./block-positions.ts";
import { add, type Postings, remove } from "./postings.ts";
import { searchable } from "./search-text.ts";
import { type IndexDelta, type IndexHead, termOf } from "./table.ts";

export interface Entry {
  /** Unique key of the record. */
  readonly key: string;
  /** The values for filters; a missing field matches no filter. */
  readonly fields: Readonly<Record<string, string>>;
  /** The text for substring search; a record without text is found only by the empty search. */
  readonly text?: string;
}

export interface FieldChange {
  readonly number: number;
  readonly before: Readonly<Record<string, string | undefined>>;
  readonly after: Readonly<Record<string, string | undefined>>;
  /** The new text; unchanged if missing. */
  readonly text?: string;
}

/** A record that is not in a block yet. */
export interface Row {
  readonly number: number;
  readonly key: string;
  terms: readonly string[];
  /** Normalized for search; undefined if the record has no text. */
  text?: string;
}

/** An addition or removal of one position of a set. */
export interface Operation {
  readonly position: number;
  readonly present: boolean;
}

/** Segment -> term -> operations on its set, in order. */
export type Operations = Map<number, Map<string, Operation[]>>;

export const toRow = ({ key, fields, text }: Entry, number: number): Row => ({
  key,
  number,
  terms: Object.entries(fields).map(([field, value]) => termOf(field, value)),
  ...(text === undefined ? {} : { text: searchable(text) }),
});

type Content = Pick<IndexDelta, "delta" | "first" | "terms" | "entries" | "changes" | "newTexts">;

/** Builds the delta of one transaction. */
export function toDelta(
  head: IndexHead,
  entries: readonly Entry[],
  changes: readonly FieldChange[],
): Content {
  const positions = new Map<string, number>();
  const placeOf = (field: string, value: string): number => {
    const term = termOf(field, value);
    const position = positions.get(term) ?? positions.size;
    positions.set(term, position);
    return position;
  };
  const without = (fields: FieldChange["before"], others: FieldChange["before"]): number[] =>
    Object.entries(fields).flatMap(([field, value]) =>
      value === undefined || others[field] === value ? [] : [placeOf(field, value)],
    );
  return {
    delta: head.nextDelta,
    first: head.last + 1,
    entries: entries.map(({ key, fields }) => [
      key,
      ...Object.entries(fields).map(([field, value]) => placeOf(field, value)),
    ]),
    changes: changes.map(({ number, before, after }) => [
      number,
      without(before, after),
      without(after, before),
    ]),
    terms: [...positions.keys()],
    ...textsOf(head, entries, changes),
  };
}

/** An empty object if there are no texts. */
function textsOf(
  { last }: IndexHead,
  entries: readonly Entry[],
  changes: readonly FieldChange[],
): Pick<Content, "newTexts"> {
  const newTexts: (readonly [number, string])[] = [];
  for (const [at, { text }] of entries.entries())
    if (text !== undefined) newTexts.push([last + 1 + at, searchable(text)]);
  for (const { number, text } of changes) if (text !== undefined) newTexts.push([number, searchable(text)]);
  return newTexts.length === 0 ? {} : { newTexts };
}

const termsAt = ({ terms }: Content, positions: readonly number[]): string[] =>
  positions.map((position) => terms[position] ?? "");

/** The operations of deltas on the sets of blocks. Idempotent if all of them are applied. */
export function operationsOf(deltas: readonly Content[]): Operations {
  const operations: Operations = new Map();
  const put = (number: number, terms: readonly string[], present: boolean): void => {
    for (const term of terms)
      operationsOn(operations, segmentOf(number), term).push({ position: positionOf(number), present });
  };
  for (const delta of deltas) {
    for (const [at, [, ...positions]] of delta.entries.entries())
      put(delta.first + at, termsAt(delta, positions), true);
    for (const [number, drops, puts] of delta.changes) {
      put(number, termsAt(delta, drops), false);
      put(number, termsAt(delta, puts), true);
    }
  }
  return operations;
}

function operationsOn(operations: Operations, segment: number, term: string): Operation[] {
  const terms = operations.get(segment) ?? new Map<string, Operation[]>();
  operations.set(segment, terms);
  const list = terms.get(term) ?? [];
  terms.set(term, list);
  return list;
}

/** The set after operations; modifies the given set. */
export function applyOperations(set: Postings, operations: readonly Operation[]): Postings {
  let changed = set;
  for (const { position, present } of operations) {
    changed = present ? add(changed, position) : remove(changed, position);
  }
  return changed;
}

const NO_TEXTS: ReadonlyMap<number, string> = new Map();

/** The records that are not in blocks yet, and the changes of those that are, from the deltas since the last merge. */
export class Recent {
  readonly firstDelta: number;
  /** Numbers up to this one are in blocks. */
  readonly merged: number;
  readonly rows: Row[] = [];
  readonly deltas: Content[] = [];
  readonly #byKey = new Map<string, Row>();
  readonly #changes: Operations = new Map();
  readonly #texts = new Map<number, Map<number, string>>();

  constructor({ firstDelta, merged }: Pick<IndexHead, "firstDelta" | "merged">) {
    this.firstDelta = firstDelta;
    this.merged = merged;
  }

  get nextDelta(): number {
    return this.firstDelta + this.deltas.length;
  }

  get last(): number {
    return this.merged + this.rows.length;
  }

  row(key: string): Row | undefined {
    return this.#byKey.get(key);
  }

  /** Operations on a set since its block was written. */
  changesOf(segment: number, term: string): readonly Operation[] {
    return this.#changes.get(segment)?.get(term) ?? [];
  }

  /** Number -> text that changed since its segment's blocks were written. */
  textsOf(segment: number): ReadonlyMap<number, string> {
    return this.#texts.get(segment) ?? NO_TEXTS;
  }

  /** Number -> text, for all texts that are not in blocks yet. */
  texts(): Map<number, string> {
    const texts = new Map([...this.#texts.values()].flatMap((ofSegment) => [...ofSegment]));
    for (const { number, text } of this.rows) if (text !== undefined) texts.set(number, text);
    return texts;
  }

  /** Appends the next delta; known ones are skipped. */
  append(delta: Content): void {
    if (delta.delta !== this.nextDelta) return;
    this.deltas.push(delta);
    for (const [key, ...positions] of delta.entries) {
      const row = { number: this.last + 1, key, terms: termsAt(delta, positions) };
      this.rows.push(row);
      this.#byKey.set(key, row);
    }
    for (const [number, drops, puts] of delta.changes) {
      const dropped = termsAt(delta, drops);
      const added = termsAt(delta, puts);
      const row = number > this.merged ? this.rows[number - this.merged - 1] : undefined;
      if (row !== undefined) {
        row.terms = [
          ...row.terms.filter((term) => !dropped.includes(term) && !added.includes(term)),
          ...added,
        ];
        continue;
      }
      const change = (term: string, present: boolean): void => {
        operationsOn(this.#changes, segmentOf(number), term).push({ position: positionOf(number), present });
      };
      for (const term of dropped) change(term, false);
      for (const term of added) change(term, true);
    }
    for (const [number, text] of delta.newTexts ?? []) {
      const row = number > this.merged ? this.rows[number - this.merged - 1] : undefined;
      if (row !== undefined) {
        row.text = text;
        continue;
      }
      const ofSegment = this.#texts.get(segmentOf(number)) ?? new Map<number, string>();
      this.#texts.set(segmentOf(number), ofSegment.set(number, text));
    }
  }
}
