import type { Write } from "../platform/tables.ts";
import { add, encode, type Postings, remove, SEGMENT_SIZE } from "./postings.ts";
import { type IndexHead, keysKey, postingsKey, rankedIndexTable, termOf } from "./table.ts";

/** Keys in one block. */
export const KEYS_PER_BLOCK = 256;

export interface Entry {
  /** What the record is found by. */
  readonly key: string;
  /** The values that lists may be filtered by; a field left out fits no filter. */
  readonly fields: Readonly<Record<string, string>>;
}

export const segmentOf = (number: number): number => Math.floor((number - 1) / SEGMENT_SIZE);
export const positionOf = (number: number): number => (number - 1) % SEGMENT_SIZE;
export const chunkOf = (number: number): number => Math.floor(positionOf(number) / KEYS_PER_BLOCK);

type Operation = { readonly position: number; readonly present: boolean };

/** The writes of one transaction on an index, as they are put together. */
export class Draft {
  readonly numbers: number[] = [];
  readonly writes: Write[] = [];
  readonly version: number;
  readonly #index: string;
  readonly #head: IndexHead;
  readonly #operations = new Map<number, Map<string, Operation[]>>();
  readonly #newKeys = new Map<number, Map<number, { number: number; key: string }[]>>();
  readonly #sets = new Map<number, Map<string, Postings>>();
  readonly #keys = new Map<number, Map<number, string[]>>();
  #items = 0;

  constructor(index: string, head: IndexHead) {
    this.#index = index;
    this.#head = head;
    this.version = head.version + 1;
  }

  put(segment: number, term: string, position: number): void {
    this.#operation(segment, term, { position, present: true });
  }

  drop(segment: number, term: string, position: number): void {
    this.#operation(segment, term, { position, present: false });
  }

  #operation(segment: number, term: string, operation: Operation): void {
    const terms = mapIn(this.#operations, segment);
    const list = terms.get(term);
    if (list !== undefined) list.push(operation);
    else {
      terms.set(term, [operation]);
      this.#items += 1;
    }
  }

  /** False where the transaction has no room for the entry. */
  append(entry: Entry, room: number, writesEach: number): boolean {
    const number = this.#head.last + this.numbers.length + 1;
    const segment = segmentOf(number);
    const terms = Object.entries(entry.fields).map(([field, value]) => termOf(field, value));
    const known = this.#operations.get(segment);
    const fresh = terms.filter((term) => known?.has(term) !== true).length;
    const chunk = chunkOf(number);
    const newChunk = this.#newKeys.get(segment)?.has(chunk) === true ? 0 : 1;
    if (this.numbers.length > 0 && this.#items + fresh + newChunk + writesEach > room) return false;
    for (const term of terms) this.put(segment, term, positionOf(number));
    const chunks = mapIn(this.#newKeys, segment);
    const list = chunks.get(chunk);
    if (list !== undefined) list.push({ number, key: entry.key });
    else chunks.set(chunk, [{ number, key: entry.key }]);
    this.#items += newChunk + writesEach;
    this.numbers.push(number);
    return true;
  }

  touched(): [number, string[]][] {
    return [...this.#operations].map(([segment, terms]) => [segment, [...terms.keys()]]);
  }

  touchedChunks(): [number, number[]][] {
    return [...this.#newKeys].map(([segment, chunks]) => [segment, [...chunks.keys()]]);
  }

  segments(): Set<number> {
    return new Set([...this.#operations.keys(), ...this.#newKeys.keys()]);
  }

  setsOf = (segment: number): Map<string, Postings> => mapIn(this.#sets, segment);
  keysOf = (segment: number): Map<number, string[]> => mapIn(this.#keys, segment);

  provide(segment: number, term: string, set: Postings): void {
    let changed = set;
    for (const { position, present } of this.#operations.get(segment)?.get(term) ?? []) {
      changed = present ? add(changed, position) : remove(changed, position);
    }
    this.setsOf(segment).set(term, changed);
  }

  provideKeys(segment: number, chunk: number, before: readonly string[]): void {
    const keys = [...before];
    for (const { number, key } of this.#newKeys.get(segment)?.get(chunk) ?? [])
      keys[(number - 1) % KEYS_PER_BLOCK] = key;
    this.keysOf(segment).set(
      chunk,
      Array.from(keys, (key) => key ?? ""),
    );
  }

  seal(): void {
    const changed = { ...this.#head.changed };
    for (const segment of this.segments()) changed[String(segment)] = this.version;
    const head: IndexHead = {
      ...this.#head,
      version: this.version,
      last: this.#head.last + this.numbers.length,
      changed,
    };
    this.writes.push({
      op: "put",
      table: rankedIndexTable,
      item: head,
      when: [this.#head.version === 0 ? ["pk", "missing"] : ["version", "=", this.#head.version]],
    });
    for (const [segment, sets] of this.#sets) {
      for (const [term, set] of sets) {
        this.writes.push({
          op: "put",
          table: rankedIndexTable,
          item: { ...postingsKey(this.#index, segment, term), bytes: encode(set) },
        });
      }
    }
    for (const [segment, chunks] of this.#keys) {
      for (const [chunk, keys] of chunks) {
        this.writes.push({
          op: "put",
          table: rankedIndexTable,
          item: { ...keysKey(this.#index, segment, chunk), keys },
        });
      }
    }
  }
}

function mapIn<Outer, Inner, Value>(maps: Map<Outer, Map<Inner, Value>>, key: Outer): Map<Inner, Value> {
  const known = maps.get(key);
  if (known !== undefined) return known;
  const made = new Map<Inner, Value>();
  maps.set(key, made);
  return made;
}
