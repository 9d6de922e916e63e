import type { Ports } from "../platform/ports.ts";
import type { Write } from "../platform/tables.ts";
import { CONFLICT, PROGRESS, retryOnConflict } from "../retry-on-conflict.ts";
import { applyOperations, type Entry, type FieldChange, type Row, toDelta, toRow } from "./deltas.ts";
import { ATTEMPTS_MAX, IndexCache } from "./index-cache.ts";
import { headAfterMerge, writeBlocks } from "./merge.ts";
import { copyOf, intersect, SEGMENT_SIZE, type Selection, type Term } from "./postings.ts";
import type { NeedleMatches } from "./search-cache.ts";
import { searchable } from "./search-text.ts";
import { deltaKey, type IndexHead, rankedIndexTable } from "./table.ts";
import { type Filter, matchesTests, segmentsOf, type Tests, toTests, View } from "./view.ts";

/** Writes per transaction. */
const WRITES_MAX = 100;
/** Entries of one delta without writes of their own. */
const ENTRIES_MAX = 256;
/** The head and the delta. */
const OWN_WRITES = 2;
/** Bytes of texts per delta, except for a single text of any length: with keys and fields they form one item. */
const TEXT_BYTES_MAX = 200_000;

/** The additions and changes of one transaction. */
export interface IndexBatch {
  readonly entries: readonly Entry[];
  readonly changes?: readonly FieldChange[];
  /** Additional writes for an entry and its number, at most `writesEach`. */
  readonly entryWrites?: (entry: Entry, number: number) => readonly Write[];
  readonly writesEach?: number;
  /** Additional writes of the transaction. */
  readonly writes?: readonly Write[];
  /**
   * Called once records are visible in the index, before they leave its recent part; repeated if it is unknown whether
   * an earlier call completed.
   */
  readonly acknowledge?: (rows: readonly Row[]) => Promise<void>;
}

/** A record in the index. */
export interface NumberedRecord {
  readonly key: string;
  readonly number: number;
  /** False if it was in the index before. */
  readonly added: boolean;
}

/** Must be the same for all processes that share an index, except the memory limit. */
export interface IndexOptions {
  /** Number of records in deltas at which they are merged into blocks. */
  readonly mergeRows?: number;
  /** Number of deltas at which they are merged. */
  readonly mergeDeltas?: number;
  /**
   * Maximum characters of texts in memory: 1 byte each, or 2 in blocks with characters beyond Latin-1. Other texts are
   * read again for each new search.
   */
  readonly textsInMemory?: number;
}

const MERGE_ROWS = 256;
const MERGE_DELTAS = 48;
const TEXTS_IN_MEMORY = 16_000_000;

/**
 * A list with exact totals at any offset. Records are numbered in the order of their addition; each value of a field
 * has a set of positions per segment of 65,536 numbers. A filter is an intersection of sets, a total their size, an
 * offset a selection in them. Each transaction appends one small delta; from time to time the deltas are merged into
 * the blocks that contain sets and keys. The head's version serializes writers. Readers need not see whole
 * transactions: everything that the head references was written before it, or with it and is awaited; data in blocks
 * beyond the head is ignored.
 */
export class RankedIndex {
  readonly #deps: Pick<Ports, "tables">;
  readonly #name: string;
  readonly #mergeRows: number;
  readonly #mergeDeltas: number;
  /** Twice the maximum number of deltas: a slow reader still finds the deltas of its head. */
  readonly #slots: number;
  readonly #known: IndexCache;
  /** Numbers of recent records that have been acknowledged. */
  readonly #acknowledged = new Set<number>();
  /** Serializes the writers of this process, which would otherwise conflict with each other. */
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

  /** The last assigned number; 0 before the first. */
  async last(): Promise<number> {
    return (await this.#known.readHead()).last;
  }

  /** Numbers up to this one were in blocks when this process last read the index; undefined before that. */
  get floor(): number | undefined {
    return this.#known.head?.merged;
  }

  /**
   * Adds as many entries as fit into one transaction, and all changes; returns the entries that are then in the index.
   * Undefined if the caller's own writes failed their conditions. Throws after many conflicts, and `limit_exceeded` if
   * the changes alone contain more than about 200 KB of texts.
   */
  take(batch: IndexBatch): Promise<readonly NumberedRecord[] | undefined> {
    const turn = this.#turn.then(() => this.#untilWritten(() => this.#take(batch)));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #take(
    batch: IndexBatch,
  ): Promise<readonly NumberedRecord[] | undefined | typeof CONFLICT | typeof PROGRESS> {
    await this.#known.catchUp();
    const head = this.#known.whole;
    if (head === undefined) return CONFLICT;
    if (head.nextDelta - head.firstDelta >= this.#mergeDeltas) {
      await this.#untilWritten(() => this.#merge(batch));
      return PROGRESS;
    }
    const known = batch.entries.flatMap(({ key }) => this.#recentRow(head, key) ?? []);
    const entries = this.#fitting(head, batch);
    const changes = batch.changes ?? [];
    if (entries.length > 0 || changes.length > 0) {
      const failed = await this.#append(head, entries, changes, batch);
      if (failed === undefined) return CONFLICT;
      if (failed) return undefined;
    }
    // Computed here and not from the recent part: another process may have merged it already.
    const added = entries.map((entry, at) => toRow(entry, head.last + 1 + at));
    await this.#acknowledge([...added, ...known], batch);
    const { rows, deltas } = this.#known.recent;
    if (rows.length >= this.#mergeRows || deltas.length >= this.#mergeDeltas)
      await this.#untilWritten(() => this.#merge(batch));
    return [
      ...added.map(({ key, number }) => ({ key, number, added: true })),
      ...known.map(({ key, number }) => ({ key, number, added: false })),
    ];
  }

  /** The entries that are not in the index yet, as many as fit. */
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

  /** Removed records may be added again with a new number. */
  #recentRow({ low }: IndexHead, key: string): Row | undefined {
    const row = this.#known.recent.row(key);
    return row !== undefined && row.number > low ? row : undefined;
  }

  /** True if the caller's writes failed their conditions, undefined after a conflict. */
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

  async #acknowledge(rows: readonly Row[], { acknowledge }: IndexBatch): Promise<void> {
    const open = rows.filter(({ number }) => !this.#acknowledged.has(number));
    if (acknowledge === undefined || open.length === 0) return;
    await acknowledge(open);
    for (const { number } of open) this.#acknowledged.add(number);
  }

  /** Merges acknowledged deltas into the blocks. Other processes may do so concurrently. */
  async #merge(batch: IndexBatch): Promise<undefined | typeof CONFLICT> {
    await this.#known.catchUp();
    const head = this.#known.whole;
    if (head === undefined) return CONFLICT;
    const recent = this.#known.recent;
    const { nextDelta } = recent;
    if (recent.deltas.length === 0) return;
    await this.#acknowledge(recent.rows, batch);
    // Another process may have added records meanwhile.
    if (this.#known.recent !== recent || recent.nextDelta !== nextDelta) return CONFLICT;
    const merged = await writeBlocks(this.#deps, this.#name, this.#known, head, recent);
    if (merged === undefined) return CONFLICT;
    for (
      let current = await this.#known.readHead();
      current.firstDelta < merged.until;
      current = await this.#known.readHead()
    ) {
      const next = headAfterMerge(current, merged);
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
    for (const number of this.#acknowledged) if (number <= merged.last) this.#acknowledged.delete(number);
    return;
  }

  /**
   * Removes the records up to a number: no later view contains them, and numbers are not reused. False if they were
   * removed before, or the caller's own writes failed their conditions.
   */
  drop(low: number, writes: readonly Write[]): Promise<boolean> {
    const turn = this.#turn.then(() => this.#untilWritten(() => this.#drop(low, writes)));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #drop(low: number, writes: readonly Write[]): Promise<boolean | typeof CONFLICT> {
    const head = await this.#known.readHead();
    if (low <= head.low || low > head.last) return false;
    const next: IndexHead = { ...head, version: head.version + 1, low };
    const outcome = await this.#deps.tables.write([this.#putHead(head, next), ...writes]);
    if (outcome.ok) this.#known.notice(next);
    return outcome.ok || !outcome.failed.includes(0) ? outcome.ok : CONFLICT;
  }

  #untilWritten<Result>(attempt: () => Promise<Result | typeof CONFLICT | typeof PROGRESS>): Promise<Result> {
    const exceeded = (): Error => new Error(`too many conflicts at the index ${this.#name}`);
    return retryOnConflict(attempt, { attempts: ATTEMPTS_MAX, exceeded });
  }

  /** The records that match every filter, at one instant. */
  async view(filters: readonly Filter[]): Promise<View> {
    const tests = toTests(filters);
    const terms = tests.terms.map(({ term }) => term);
    const read = async (): Promise<View | typeof CONFLICT> => {
      const head = await this.#known.catchUp(terms);
      const view = this.#viewNow(tests, await this.#known.texts.search(head, tests.needles));
      this.#known.blocks.trim();
      return view ?? CONFLICT;
    };
    return retryOnConflict(read, {
      attempts: ATTEMPTS_MAX,
      exceeded: () => new Error(`the index ${this.#name} keeps changing while it is read`),
    });
  }

  /** A view from the cache; undefined if data is missing or newer than the head. */
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
      // A new segment may have started since the search.
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
    const passing = recent.rows.filter((row) => row.number > head.low && matchesTests(row, tests));
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
