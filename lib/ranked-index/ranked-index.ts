import type { Ports } from "../platform/ports.ts";
import type { Write } from "../platform/tables.ts";
import { chunkOf, Draft, type Entry, KEYS_PER_BLOCK, positionOf, segmentOf } from "./draft.ts";
import { decode, emptyPostings, intersect, type Postings, SEGMENT_SIZE, type Term } from "./postings.ts";
import { headKeyOf, type IndexHead, keysKey, postingsKey, rankedIndexTable, termOf } from "./table.ts";

/** Sets of sealed segments kept in memory, over all segments. */
const CACHED_SETS_MAX = 20_000;
const WRITES_MAX = 100;
const TRIES_MAX = 50;

export interface FieldChange {
  readonly number: number;
  readonly before: Readonly<Record<string, string | undefined>>;
  readonly after: Readonly<Record<string, string | undefined>>;
}

export interface Filter {
  readonly field: string;
  readonly value: string;
  /** All records but those with the value. */
  readonly negated?: boolean;
}

export interface Selected {
  /** The last number that was given when this was read. */
  readonly last: number;
  readonly total: number;
  /** Newest first. */
  readonly found: readonly { readonly number: number; readonly key: string }[];
}

/** What one transaction is to bring into the index. */
export interface IndexBatch {
  readonly entries: readonly Entry[];
  readonly changes?: readonly FieldChange[];
  /** Further writes of the transaction that belong to an entry, `writesEach` of them at most. */
  readonly entryWrites?: (entry: Entry, number: number) => readonly Write[];
  readonly writesEach?: number;
  /** Further writes of the transaction. */
  readonly writes?: readonly Write[];
}

/**
 * A list with exact totals at any offset: records are numbered in the order in which they are taken in; for
 * each value of a field and each segment of 65,536 numbers there is a set of positions. A filter is an
 * intersection of sets, a total their size, an offset a selection among them. One writer at a time gets its
 * turn by the head's version; readers keep the sets in memory and drop what the head says has changed.
 */
export class RankedIndex {
  readonly #deps: Pick<Ports, "tables">;
  readonly #name: string;
  readonly #segments = new Map<number, CachedSegment>();
  #cachedSets = 0;
  /** Writers of this process take turns: a draft changes the sets in memory before they are committed. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: Pick<Ports, "tables">, name: string) {
    this.#deps = deps;
    this.#name = name;
  }

  /** The last number given; 0 before the first. */
  async last(): Promise<number> {
    return (await this.#head()).last;
  }

  /**
   * Takes in as many entries as one transaction holds, and all changes; answers the numbers of those taken.
   * Undefined where the caller's own writes did not hold. Throws after many lost turns.
   */
  take(batch: IndexBatch): Promise<readonly number[] | undefined> {
    const turn = this.#turn.then(() => this.#take(batch));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #take(batch: IndexBatch): Promise<readonly number[] | undefined> {
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      const head = await this.#head();
      const draft = await this.#draft(head, batch);
      const outcome = await this.#deps.tables.write([...draft.writes, ...(batch.writes ?? [])]);
      if (outcome.ok) {
        this.#keep(draft);
        return draft.numbers;
      }
      this.#forget(draft);
      if (!outcome.failed.includes(0)) return undefined;
    }
    throw new Error(`the index ${this.#name} is contended`);
  }

  /** Records that pass every filter: how many, and those of one page, newest first; with `upTo`, of those numbers alone. */
  async select(
    filters: readonly Filter[],
    page: { readonly offset: number; readonly limit: number; readonly upTo?: number },
  ): Promise<Selected> {
    const now = await this.#head();
    const head = page.upTo === undefined ? now : { ...now, last: Math.min(now.last, page.upTo) };
    const picked: number[] = [];
    let total = 0;
    for (
      let segment = segmentOf(head.last);
      segment >= segmentOf(head.low + 1) && head.last > 0;
      segment -= 1
    ) {
      const base = segment * SEGMENT_SIZE;
      const from = Math.max(0, head.low - base);
      const to = Math.min(SEGMENT_SIZE, head.last - base);
      const selection = intersect(await this.#terms(head, segment, filters), from, to);
      const skip = Math.max(0, page.offset - total);
      if (picked.length < page.limit && skip < selection.count) {
        for (const position of selection.pick(skip, page.limit - picked.length))
          picked.push(base + position + 1);
      }
      total += selection.count;
    }
    const keys = await this.#keysOf(head, picked);
    return {
      last: head.last,
      total,
      found: picked.map((number, index) => ({ number, key: keys[index] ?? "" })),
    };
  }

  /** The keys of the numbers from one to another, both among them. */
  async keys(first: number, last: number): Promise<string[]> {
    if (last < first) return [];
    return this.#keysOf(
      await this.#head(),
      Array.from({ length: last - first + 1 }, (_, index) => first + index),
    );
  }

  async #head(): Promise<IndexHead> {
    const key = headKeyOf(this.#name);
    const head = await this.#deps.tables.get(rankedIndexTable, key);
    return head ?? { ...key, version: 0, last: 0, low: 0, changed: {} };
  }

  async #terms(head: IndexHead, segment: number, filters: readonly Filter[]): Promise<Term[]> {
    const sets = await this.#sets(
      head,
      segment,
      filters.map(({ field, value }) => termOf(field, value)),
    );
    return filters.map((filter, index) => ({
      set: sets[index] ?? emptyPostings(),
      negated: filter.negated === true,
    }));
  }

  /** The sets of a segment by term, from memory or read together. */
  async #sets(head: IndexHead, segment: number, terms: readonly string[]): Promise<Postings[]> {
    const cached = this.#segment(head, segment);
    const missing = [...new Set(terms.filter((term) => !cached.sets.has(term)))];
    if (missing.length > 0) {
      const keys = missing.map((term) => postingsKey(this.#name, segment, term));
      const items = new Map(
        (await this.#deps.tables.batchGet(rankedIndexTable, keys)).map((item) => [item.sk, item]),
      );
      for (const [index, term] of missing.entries()) {
        const bytes = items.get(keys[index]?.sk ?? "")?.bytes;
        cached.sets.set(term, bytes === undefined ? emptyPostings() : decode(bytes));
      }
      this.#bound(missing.length);
    }
    return terms.map((term) => cached.sets.get(term) ?? emptyPostings());
  }

  async #keysOf(head: IndexHead, numbers: readonly number[]): Promise<string[]> {
    const blocks = new Map<string, readonly string[]>();
    for (const [segment, positions] of Map.groupBy(numbers, segmentOf)) {
      const cached = this.#segment(head, segment);
      const chunks = [...new Set(positions.map(chunkOf))];
      const missing = chunks.filter((chunk) => !cached.keys.has(chunk));
      const keys = missing.map((chunk) => keysKey(this.#name, segment, chunk));
      const items = new Map(
        (await this.#deps.tables.batchGet(rankedIndexTable, keys)).map((item) => [item.sk, item]),
      );
      for (const [index, chunk] of missing.entries())
        cached.keys.set(chunk, [...(items.get(keys[index]?.sk ?? "")?.keys ?? [])]);
      this.#bound(missing.length);
      for (const chunk of chunks) blocks.set(`${segment}/${chunk}`, cached.keys.get(chunk) ?? []);
    }
    return numbers.map(
      (number) =>
        blocks.get(`${segmentOf(number)}/${chunkOf(number)}`)?.[(number - 1) % KEYS_PER_BLOCK] ?? "",
    );
  }

  #segment(head: IndexHead, segment: number): CachedSegment {
    const version = head.changed[String(segment)] ?? 0;
    const cached = this.#segments.get(segment);
    // Newer than the head is fine: what was added lies beyond the head's last number.
    if (cached !== undefined && cached.version >= version) return cached;
    const fresh: CachedSegment = { version, sets: new Map(), keys: new Map() };
    this.#cachedSets -= cached === undefined ? 0 : cached.sets.size + cached.keys.size;
    this.#segments.set(segment, fresh);
    return fresh;
  }

  /** Whole segments leave the memory, the oldest first, once there are too many sets. */
  #bound(added: number): void {
    this.#cachedSets += added;
    for (const [segment, cached] of this.#segments) {
      if (this.#cachedSets <= CACHED_SETS_MAX || this.#segments.size <= 1) return;
      this.#segments.delete(segment);
      this.#cachedSets -= cached.sets.size + cached.keys.size;
    }
  }

  async #draft(head: IndexHead, batch: IndexBatch): Promise<Draft> {
    const draft = new Draft(this.#name, head);
    const room = WRITES_MAX - 1 - (batch.writes?.length ?? 0);
    for (const change of batch.changes ?? []) {
      const segment = segmentOf(change.number);
      for (const [field, value] of Object.entries(change.before)) {
        if (value !== undefined && change.after[field] !== value)
          draft.drop(segment, termOf(field, value), positionOf(change.number));
      }
      for (const [field, value] of Object.entries(change.after)) {
        if (value !== undefined && change.before[field] !== value)
          draft.put(segment, termOf(field, value), positionOf(change.number));
      }
    }
    const { entryWrites, writesEach = 0 } = batch;
    for (const entry of batch.entries) {
      if (!draft.append(entry, room, writesEach)) break;
    }
    await this.#load(draft, head);
    draft.seal();
    for (const [index, number] of draft.numbers.entries()) {
      const entry = batch.entries[index];
      if (entry !== undefined && entryWrites !== undefined) draft.writes.push(...entryWrites(entry, number));
    }
    return draft;
  }

  async #load(draft: Draft, head: IndexHead): Promise<void> {
    for (const [segment, terms] of draft.touched()) {
      const sets = await this.#sets(head, segment, terms);
      for (const [index, term] of terms.entries())
        draft.provide(segment, term, sets[index] ?? emptyPostings());
    }
    for (const [segment, chunks] of draft.touchedChunks()) {
      const cached = this.#segment(head, segment);
      const missing = chunks.filter((chunk) => !cached.keys.has(chunk));
      const keys = missing.map((chunk) => keysKey(this.#name, segment, chunk));
      const items = new Map(
        (await this.#deps.tables.batchGet(rankedIndexTable, keys)).map((item) => [item.sk, item]),
      );
      for (const [index, chunk] of missing.entries())
        cached.keys.set(chunk, [...(items.get(keys[index]?.sk ?? "")?.keys ?? [])]);
      this.#bound(missing.length);
      for (const chunk of chunks) draft.provideKeys(segment, chunk, cached.keys.get(chunk) ?? []);
    }
  }

  /** What was committed is what the memory holds now. */
  #keep(draft: Draft): void {
    for (const segment of draft.segments()) {
      const cached = this.#segments.get(segment);
      if (cached !== undefined) cached.version = draft.version;
      for (const [term, set] of draft.setsOf(segment)) cached?.sets.set(term, set);
      for (const [chunk, keys] of draft.keysOf(segment)) cached?.keys.set(chunk, keys);
    }
  }

  /** Sets were changed in place for a transaction that did not happen. */
  #forget(draft: Draft): void {
    for (const segment of draft.segments()) {
      const cached = this.#segments.get(segment);
      if (cached === undefined) continue;
      this.#cachedSets -= cached.sets.size + cached.keys.size;
      this.#segments.delete(segment);
    }
  }
}

interface CachedSegment {
  version: number;
  readonly sets: Map<string, Postings>;
  readonly keys: Map<number, string[]>;
}
