import { positionOf, segmentOf } from "./numbers.ts";
import { add, type Postings, remove } from "./postings.ts";
import { type IndexDelta, type IndexHead, termOf } from "./table.ts";

export interface Entry {
  /** What the record is found by; no two records have the same. */
  readonly key: string;
  /** The values that lists may be filtered by; a field left out fits no filter. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface FieldChange {
  readonly number: number;
  readonly before: Readonly<Record<string, string | undefined>>;
  readonly after: Readonly<Record<string, string | undefined>>;
}

/** A record that is in no block yet. */
export interface Row {
  readonly number: number;
  readonly key: string;
  terms: readonly string[];
}

/** What happens to one position of a set. */
export interface Operation {
  readonly position: number;
  readonly present: boolean;
}

/** Segment -> term -> what happens to its set, in order. */
export type Operations = Map<number, Map<string, Operation[]>>;

export const toRow = ({ key, fields }: Entry, number: number): Row => ({
  ...{ key, number },
  terms: Object.entries(fields).map(([field, value]) => termOf(field, value)),
});

type Content = Pick<IndexDelta, "delta" | "first" | "terms" | "entries" | "changes">;

/** Puts into one delta what one transaction takes in. */
export function toDelta(
  head: IndexHead,
  entries: readonly Entry[],
  changes: readonly FieldChange[],
): Content {
  const places = new Map<string, number>();
  const placeOf = (field: string, value: string): number => {
    const term = termOf(field, value);
    const place = places.get(term) ?? places.size;
    places.set(term, place);
    return place;
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
    terms: [...places.keys()],
  };
}

const termsAt = ({ terms }: Content, places: readonly number[]): string[] =>
  places.map((place) => terms[place] ?? "");

/** What deltas do to the sets of the blocks. Doing it again changes nothing, if it is done to the last. */
export function operationsOf(deltas: readonly Content[]): Operations {
  const operations: Operations = new Map();
  const put = (number: number, terms: readonly string[], present: boolean): void => {
    for (const term of terms)
      operationsOn(operations, segmentOf(number), term).push({ position: positionOf(number), present });
  };
  for (const delta of deltas) {
    for (const [at, [, ...places]] of delta.entries.entries())
      put(delta.first + at, termsAt(delta, places), true);
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

/** The set after operations; the given set is used up. */
export function applyOperations(set: Postings, operations: readonly Operation[]): Postings {
  let changed = set;
  for (const { position, present } of operations) {
    changed = present ? add(changed, position) : remove(changed, position);
  }
  return changed;
}

/**
 * The records that are in no block yet, and the changes of those that are, as the deltas since the last merge
 * tell them.
 */
export class Recent {
  readonly firstDelta: number;
  /** Numbers up to this one are in blocks. */
  readonly merged: number;
  readonly rows: Row[] = [];
  readonly deltas: Content[] = [];
  readonly #byKey = new Map<string, Row>();
  readonly #changes: Operations = new Map();

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

  /** What happened to a set of the blocks since they were written. */
  changesOf(segment: number, term: string): readonly Operation[] {
    return this.#changes.get(segment)?.get(term) ?? [];
  }

  /** The next delta; one that is known is passed over. */
  append(delta: Content): void {
    if (delta.delta !== this.nextDelta) return;
    this.deltas.push(delta);
    for (const [key, ...places] of delta.entries) {
      const row = { number: this.last + 1, key, terms: termsAt(delta, places) };
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
  }
}
