import type { Ports } from "../platform/ports.ts";
import type { Write } from "../platform/tables.ts";
import { applyOperations, type Entry, type FieldChange, type Row, toDelta, toRow } from "./deltas.ts";
import { IndexCache, pauseBefore } from "./index-cache.ts";
import { mergedHead, writeBlocks } from "./merge.ts";
import { copyOf, intersect, SEGMENT_SIZE, type Selection, type Term } from "./postings.ts";
import type { NeedleMatches } from "./search-cache.ts";
import { searchable } from "./search-text.ts";
import { deltaKey, type IndexHead, rankedIndexTable } from "./table.ts";
import { type Filter, passes, segmentsOf, type Tests, toTests, View } from "./view.ts";

/** Writes of one transaction. */
const WRITES_MAX = 100;
const TRIES_MAX = 50;
/** Entries of one delta that bring no writes of their own. */
const ENTRIES_MAX = 256;
/** The head and the delta. */
const OWN_WRITES = 2;
/** Bytes of texts in one delta, but for one text of any length: with keys and fields they make one item. */
const TEXT_BYTES_MAX = 200_000;

/** What one transaction is to bring into the index. */
export interface IndexBatch {
  readonly entries: readonly Entry[];
  readonly changes?: readonly FieldChange[];
  /** Further writes of the transaction that belong to an entry and its number, `writesEach` of them at most. */
  readonly entryWrites?: (entry: Entry, number: number) => readonly Write[];
  readonly writesEach?: number;
  /** Further writes of the transaction. */
  readonly writes?: readonly Write[];
  /**
   * Called once records are in the index for all to see, before they leave its recent part; again for the same
   * ones where it is not known whether it was done.
   */
  readonly settle?: (rows: readonly Row[]) => Promise<void>;
}

/** A record that is in the index. */
export interface Taken {
  readonly key: string;
  readonly number: number;
  /** False where it was there before. */
  readonly added: boolean;
}

/** The same for all who share an index, but for what they keep in memory. */
export interface IndexOptions {
  /** Records that are taken into deltas before they are merged into blocks. */
  readonly mergeRows?: number;
  /** Deltas that there are before they are merged. */
  readonly mergeDeltas?: number;
  /**
   * Characters of texts kept in memory, 1 byte each, 2 in blocks with any beyond Latin-1. What is beyond is read
   * anew for each new search.
   */
  readonly textsInMemory?: number;
}

const MERGE_ROWS = 256;
const MERGE_DELTAS = 48;
const TEXTS_IN_MEMORY = 16_000_000;

/**
 * A list with exact totals at any offset: records are numbered in the order in which they are taken in; for
 * each value of a field and each segment of 65,536 numbers there is a set of positions. A filter is an
 * intersection of sets, a total their size, an offset a selection among them.
 *
 * What is taken in is written as it comes, as one small delta a transaction; now and then the deltas are merged
 * into the blocks that hold sets and keys. Writers get their turns by the head's version. A reader needs to see
 * no transaction whole: what the head says is in deltas and blocks was written before it, or with it and waited
 * for; what blocks hold beyond the head is left out.
 */
export class RankedIndex {
  readonly #deps: Pick<Ports, "tables">;
  readonly #name: string;
  readonly #mergeRows: number;
  readonly #mergeDeltas: number;
  /** Twice as many as there ever are: a reader that is late finds what its head speaks of. */
  readonly #slots: number;
  readonly #known: IndexCache;
  /** Numbers of recent records that have been settled. */
  readonly #settled = new Set<number>();
  /** Writers of this process take turns: nobody gains from losing to another. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: Pick<Ports, "tables">, name: string, options: IndexOptions = {}) {
    this.#deps = deps;
    this.#name = name;
    this.#mergeRows = options.mergeRows ?? MERGE_ROWS;
    this.#mergeDeltas = options.mergeDeltas ?? MERGE_DELTAS;
    this.#slots = this.#mergeDeltas * 2;
    this.#known = new IndexCache(deps, name, {
      slots: this.#slots,
      textsMax: options.textsInMemory ?? TEXTS_IN_MEMORY,
    });
  }

  /** The last number given; 0 before the first. */
  async last(): Promise<number> {
    return (await this.#known.readHead()).last;
  }

  /** Numbers up to this one were in blocks when the index was last read here; undefined before that. */
  get floor(): number | undefined {
    return this.#known.head?.merged;
  }

  /**
   * Takes in as many entries as one transaction holds, and all changes; answers those that are in the index then.
   * Undefined where the caller's own writes did not hold. Throws after many lost turns, and `limit_exceeded`
   * where the changes alone bring more than 200 KB of texts or so.
   */
  take(batch: IndexBatch): Promise<readonly Taken[] | undefined> {
    const turn = this.#turn.then(() => this.#take(batch));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #take(batch: IndexBatch): Promise<readonly Taken[] | undefined> {
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      await pauseBefore(attempt);
      await this.#known.catchUp();
      const head = this.#known.whole;
      if (head === undefined) continue;
      if (head.nextDelta - head.firstDelta >= this.#mergeDeltas) {
        await this.#merge(batch);
        continue;
      }
      const known = batch.entries.flatMap(({ key }) => this.#recentRow(head, key) ?? []);
      const entries = this.#fitting(head, batch);
      const changes = batch.changes ?? [];
      if (entries.length > 0 || changes.length > 0) {
        const failed = await this.#append(head, entries, changes, batch);
        if (failed === undefined) continue;
        if (failed) return undefined;
      }
      // Not asked of what is recent: another may have merged it already.
      const added = entries.map((entry, at) => toRow(entry, head.last + 1 + at));
      await this.#settle([...added, ...known], batch);
      const { rows, deltas } = this.#known.recent;
      if (rows.length >= this.#mergeRows || deltas.length >= this.#mergeDeltas) await this.#merge(batch);
      return [
        ...added.map(({ key, number }) => ({ key, number, added: true })),
        ...known.map(({ key, number }) => ({ key, number, added: false })),
      ];
    }
    throw new Error(`the index ${this.#name} is contended`);
  }

  /** The entries that are not in the index yet, as many as there is room for. */
  #fitting(head: IndexHead, { entries, changes = [], writesEach = 0, writes = [] }: IndexBatch): Entry[] {
    const room = WRITES_MAX - OWN_WRITES - writes.length;
    const most = writesEach === 0 ? ENTRIES_MAX : Math.max(1, Math.floor(room / writesEach));
    const fresh = new Map(entries.map((entry) => [entry.key, entry]));
    const fitting: Entry[] = [];
    let bytes = changes.reduce((sum, { text }) => sum + bytesOf(text), 0);
    for (const entry of fresh.values()) {
      if (this.#recentRow(head, entry.key) !== undefined) continue;
      bytes += bytesOf(entry.text);
      if (fitting.length === most || (fitting.length > 0 && bytes > TEXT_BYTES_MAX)) break;
      fitting.push(entry);
    }
    return fitting;
  }

  /** What was taken away may come in once more, with another number. */
  #recentRow({ low }: IndexHead, key: string): Row | undefined {
    const row = this.#known.recent.row(key);
    return row !== undefined && row.number > low ? row : undefined;
  }

  /** True where the caller's writes did not hold, undefined where another had the turn. */
  async #append(
    head: IndexHead,
    entries: readonly Entry[],
    changes: readonly FieldChange[],
    { entryWrites, writes = [] }: IndexBatch,
  ): Promise<boolean | undefined> {
    const delta = toDelta(head, entries, changes);
    const next: IndexHead = {
      ...head,
      version: head.version + 1,
      last: head.last + entries.length,
      nextDelta: head.nextDelta + 1,
    };
    const outcome = await this.#deps.tables.write([
      this.#putHead(head, next),
      {
        op: "put",
        table: rankedIndexTable,
        item: { ...deltaKey(this.#name, delta.delta, this.#slots), ...delta },
      },
      ...entries.flatMap((entry, at) => entryWrites?.(entry, head.last + 1 + at) ?? []),
      ...writes,
    ]);
    if (!outcome.ok) return outcome.failed.includes(0) ? undefined : true;
    this.#known.notice(next);
    this.#known.recent.append(delta);
    return false;
  }

  #putHead(before: IndexHead, head: IndexHead): Write {
    const when = [
      before.version === 0 ? (["pk", "missing"] as const) : (["version", "=", before.version] as const),
    ];
    return { op: "put", table: rankedIndexTable, item: head, when };
  }

  async #settle(rows: readonly Row[], { settle }: IndexBatch): Promise<void> {
    const open = rows.filter(({ number }) => !this.#settled.has(number));
    if (settle === undefined || open.length === 0) return;
    await settle(open);
    for (const { number } of open) this.#settled.add(number);
  }

  /** Brings the deltas into the blocks; only what is settled. Another may be about it as well. */
  async #merge(batch: IndexBatch): Promise<void> {
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      await pauseBefore(attempt);
      await this.#known.catchUp();
      const head = this.#known.whole;
      if (head === undefined) continue;
      const recent = this.#known.recent;
      const { nextDelta } = recent;
      if (recent.deltas.length === 0) return;
      await this.#settle(recent.rows, batch);
      // Another may have taken in more meanwhile.
      if (this.#known.recent !== recent || recent.nextDelta !== nextDelta) continue;
      const merged = await writeBlocks(this.#deps, this.#name, this.#known, head, recent);
      if (merged === undefined) continue;
      for (
        let current = await this.#known.readHead();
        current.firstDelta < merged.until;
        current = await this.#known.readHead()
      ) {
        const next = mergedHead(current, merged);
        const outcome = await this.#deps.tables.write([this.#putHead(current, next)]);
        if (!outcome.ok) continue;
        for (const { known, ...changed } of merged.segments.values())
          this.#known.blocks.keep(known, merged.until, changed);
        for (const [segment, { known, blocks }] of merged.texts)
          this.#known.texts.keep(segment, known, next, blocks);
        this.#known.notice(next);
        break;
      }
      this.#known.blocks.trim();
      for (const number of this.#settled) if (number <= merged.last) this.#settled.delete(number);
      return;
    }
    throw new Error(`the index ${this.#name} is contended`);
  }

  /**
   * Takes the oldest records away, those up to a number: they are in no view from then on, and no number is given
   * again. False where they were taken away before, or the caller's own writes did not hold.
   */
  drop(low: number, writes: readonly Write[]): Promise<boolean> {
    const turn = this.#turn.then(() => this.#drop(low, writes));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #drop(low: number, writes: readonly Write[]): Promise<boolean> {
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      await pauseBefore(attempt);
      const head = await this.#known.readHead();
      if (low <= head.low || low > head.last) return false;
      const next: IndexHead = { ...head, version: head.version + 1, low };
      const outcome = await this.#deps.tables.write([this.#putHead(head, next), ...writes]);
      if (outcome.ok) this.#known.notice(next);
      if (outcome.ok || !outcome.failed.includes(0)) return outcome.ok;
    }
    throw new Error(`the index ${this.#name} is contended`);
  }

  /** The records that pass every filter, as they are at one instant. */
  async view(filters: readonly Filter[]): Promise<View> {
    const tests = toTests(filters);
    const terms = tests.terms.map(({ term }) => term);
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      await pauseBefore(attempt);
      const head = await this.#known.catchUp(terms);
      const view = this.#viewNow(tests, await this.#known.texts.search(head, tests.needles));
      this.#known.blocks.trim();
      if (view !== undefined) return view;
    }
    throw new Error(`the index ${this.#name} changes faster than it can be read`);
  }

  /** Of what is known; undefined where something of it is missing, or newer than the head. */
  #viewNow(tests: Tests, findings: ReadonlyMap<number, readonly NeedleMatches[]>): View | undefined {
    const head = this.#known.whole;
    if (head === undefined) return undefined;
    const recent = this.#known.recent;
    const selections: { segment: number; selection: Selection }[] = [];
    for (const segment of segmentsOf(head.low, head.merged)) {
      const terms: Term[] = [];
      for (const { term, negated } of tests.terms) {
        const block = this.#known.blocks.set(head, segment, term);
        if (block === undefined || block.until > head.nextDelta) return undefined;
        const changes = recent.changesOf(segment, term);
        const set = changes.length === 0 ? block.value : applyOperations(copyOf(block.value), changes);
        terms.push({ set, negated });
      }
      const found = findings.get(segment) ?? [];
      // A segment may have begun since they were searched.
      if (found.length < tests.needles.length) return undefined;
      for (const finding of found) {
        if (!this.#known.texts.isWhole(head, segment, finding)) return undefined;
        terms.push({ set: finding.after(recent.textsOf(segment)), negated: false });
      }
      const base = segment * SEGMENT_SIZE;
      const from = Math.max(0, head.low - base);
      selections.push({
        segment,
        selection: intersect(terms, from, Math.min(SEGMENT_SIZE, head.merged - base)),
      });
    }
    const passing = recent.rows.filter((row) => row.number > head.low && passes(row, tests));
    return new View({
      low: head.low,
      merged: head.merged,
      rows: recent.rows,
      count: recent.rows.length,
      selections,
      passing: passing.map(({ number, key }) => ({ number, key })),
      readKeys: (numbers) => this.#known.readKeys(numbers),
    });
  }
}

const bytesOf = (text: string | undefined): number =>
  text === undefined ? 0 : Buffer.byteLength(searchable(text));
