import type { Ports } from "../platform/ports.ts";
import type { Write } from "../platform/tables.ts";
import { CONFLICT, PROGRESS, retryOnConflict } from "../retry-on-conflict.ts";
import type { IndexBatch, NumberedRecord } from "./batch.ts";
import { segmentOf } from "./block-positions.ts";
import { applyOperations, type Entry, type FieldChange, type Row, toDelta, toRow } from "./deltas.ts";
import { ATTEMPTS_MAX, IndexCache } from "./index-cache.ts";
import { headAfterMerge, writeBlocks } from "./merge.ts";
import { copyOf, intersect, SEGMENT_SIZE, type Selection, type Term } from "./postings.ts";
import type { TextMatches } from "./search-cache.ts";
import { searchable } from "./search-text.ts";
import { deltaKey, type IndexHead, rankedIndexTable, termOf } from "./table.ts";
import {
  type Filter,
  type FoundRecord,
  matchesTests,
  segmentsOf,
  type Tests,
  toTests,
  View,
} from "./view.ts";

/** Writes per transaction. */
const WRITES_MAX = 100;
/** Entries of one delta without writes of their own. */
const ENTRIES_MAX = 256;
/** The head and the delta. */
const OWN_WRITES = 2;
/** Bytes of keys, terms and texts per delta, which is one item; a single entry may contain more. */
const DELTA_BYTES_MAX = 300_000;

/** Records after a number. */
export interface RecordsAfter {
  /** Oldest first. */
  readonly found: readonly FoundRecord[];
  /** The number to continue after: all matching records up to it are in `found`. */
  readonly last: number;
  /** Records up to this number were removed. */
  readonly low: number;
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
/** The same where partitions have limits: each merge writes all sets that it changes, into one partition. */
const LIMITED_MERGE_ROWS = 4_096;
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
  readonly #listeners = new Set<() => void>();
  /** Serializes the writers of this process, which would otherwise conflict with each other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: Pick<Ports, "tables">, name: string, options: IndexOptions = {}) {
    this.#deps = deps;
    this.#name = name;
    this.#mergeRows =
      options.mergeRows ?? (deps.tables.partitionLimits === true ? LIMITED_MERGE_ROWS : MERGE_ROWS);
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

  /** Numbers up to this one are in blocks. */
  async mergedUntil(): Promise<number> {
    return (await this.#known.readHead()).merged;
  }

  /** Numbers up to this one were in blocks when this process last read the index; undefined before that. */
  get floor(): number | undefined {
    return this.#known.head?.merged;
  }

  /**
   * Adds as many entries as fit into one transaction, and all changes; returns the entries that are then in the index.
   * Undefined if the caller's own writes failed their conditions. Throws after many conflicts, and `limit_exceeded` if
   * the changes alone contain more than about 300 KB of texts.
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
    if (batch.mergedBefore !== undefined && batch.mergedBefore !== head.merged) return undefined;
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
    const isDue = rows.length >= this.#mergeRows && batch.isMoreWaiting !== true;
    if (isDue || deltas.length >= this.#mergeDeltas) await this.#untilWritten(() => this.#merge(batch));
    return [
      ...added.map(({ key, number }) => ({ key, number, added: true })),
      ...known.map(({ key, number }) => ({ key, number, added: false })),
    ];
  }

  /** The entries that are not in the index yet, as many as fit. */
  #fitting(
    head: IndexHead,
    { entries, changes = [], writesEach = 0, writes = [], addedWritesMax = 0 }: IndexBatch,
  ): Entry[] {
    const room = WRITES_MAX - OWN_WRITES - writes.length - addedWritesMax;
    const most = writesEach === 0 ? ENTRIES_MAX : Math.max(1, Math.floor(room / writesEach));
    const fresh = new Map(entries.map((entry) => [entry.key, entry]));
    const fitting: Entry[] = [];
    const known = new Set<string>();
    let bytes = changes.reduce((sum, { text }) => sum + textBytes(text), 0);
    for (const entry of fresh.values()) {
      if (this.#recentRow(head, entry.key) !== undefined) continue;
      bytes += Buffer.byteLength(entry.key) + textBytes(entry.text) + newTermBytes(entry, known);
      if (fitting.length === most || (fitting.length > 0 && bytes > DELTA_BYTES_MAX)) break;
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
    { entryWrites, addedWrites, writes = [] }: IndexBatch,
  ): Promise<boolean | undefined> {
    const delta = toDelta(head, entries, changes);
    const next: IndexHead = {
      ...head,
      version: head.version + 1,
      last: head.last + entries.length,
      nextDelta: head.nextDelta + 1,
      ...this.#spread(head, entries.length),
    };
    const outcome = await this.#deps.tables.write([
      this.#putHead(head, next),
      {
        op: "put",
        table: rankedIndexTable,
        item: { ...deltaKey(this.#name, delta.delta, this.#slots), ...delta },
      },
      ...entries.flatMap((entry, at) => entryWrites?.(entry, head.last + 1 + at) ?? []),
      ...(addedWrites?.(entries) ?? []),
      ...writes,
    ]);
    if (!outcome.ok) return outcome.failed.includes(0) ? undefined : true;
    this.#known.notice(next);
    this.#known.recent.append(delta);
    for (const listener of this.#listeners) listener();
    return false;
  }

  /** Spreads the sets of segments that have none yet, where partitions have limits. */
  #spread({ version, last, spreadFrom }: IndexHead, added: number): Pick<IndexHead, "spreadFrom"> {
    if (this.#deps.tables.partitionLimits !== true || spreadFrom !== undefined) return {};
    return { spreadFrom: version === 0 ? 0 : segmentOf(last + added) + 1 };
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
      const newest = segmentOf(merged.last);
      if (segmentOf(head.merged) < newest) this.#known.blocks.dropBelow(newest - 1);
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

  /** Calls a listener after each addition by this process, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /**
   * The records after a number that match every filter, oldest first, at most `limit`. Recent records are read from
   * memory if this process has them.
   */
  async after(filters: readonly Filter[], number: number, limit: number): Promise<RecordsAfter> {
    if (this.#known.recent.last <= number) await this.#known.catchUp();
    const head = this.#known.whole;
    const { merged, rows, last } = this.#known.recent;
    if (head === undefined || number < Math.max(merged, head.low)) {
      const view = await this.view(filters, number);
      const { found, last: until } = await view.oldest(limit);
      return { found, last: Math.max(number, until), low: view.low };
    }
    const tests = toTests(filters);
    const found: FoundRecord[] = [];
    for (let at = number - merged; at < rows.length && found.length < limit; at += 1) {
      const row = rows[at];
      if (row !== undefined && matchesTests(row, tests)) found.push({ number: row.number, key: row.key });
    }
    const until = found.length < limit ? last : (found.at(-1)?.number ?? last);
    return { found, last: Math.max(number, until), low: head.low };
  }

  /** The records that match every filter, at one instant; with `above`, only those with a higher number. */
  async view(filters: readonly Filter[], above = 0): Promise<View> {
    const tests = toTests(filters);
    const terms = tests.terms.map(({ term }) => term);
    const read = async (): Promise<View | typeof CONFLICT> => {
      const head = await this.#known.catchUp(terms);
      const view = this.#viewNow(tests, above, await this.#known.texts.search(head, tests.texts));
      this.#known.blocks.trim();
      return view ?? CONFLICT;
    };
    return retryOnConflict(read, {
      attempts: ATTEMPTS_MAX,
      exceeded: () => new Error(`the index ${this.#name} keeps changing while it is read`),
    });
  }

  /** A view from the cache; undefined if data is missing or newer than the head. */
  #viewNow(
    tests: Tests,
    above: number,
    findings: ReadonlyMap<number, readonly TextMatches[]>,
  ): View | undefined {
    const head = this.#known.whole;
    if (head === undefined) return undefined;
    const low = Math.max(head.low, above);
    const recent = this.#known.recent;
    const selections: { segment: number; selection: Selection }[] = [];
    for (const segment of segmentsOf(low, head.merged)) {
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
      if (found.length < tests.texts.length) return undefined;
      for (const finding of found) {
        if (!this.#known.texts.isWhole(head, segment, finding)) return undefined;
        terms.push({ set: finding.after(recent.textsOf(segment)), negated: false });
      }
      const base = segment * SEGMENT_SIZE;
      const from = Math.max(0, low - base);
      selections.push({
        segment,
        selection: intersect(terms, from, Math.min(SEGMENT_SIZE, head.merged - base)),
      });
    }
    const passing = recent.rows.filter((row) => row.number > low && matchesTests(row, tests));
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

const textBytes = (text: string | undefined): number =>
  text === undefined ? 0 : Buffer.byteLength(searchable(text));

/** Bytes of an entry's terms that are not in `known`; adds them to it. A delta contains each term once. */
function newTermBytes({ fields }: Entry, known: Set<string>): number {
  let bytes = 0;
  for (const [field, value] of Object.entries(fields)) {
    const term = termOf(field, value);
    if (known.has(term)) continue;
    known.add(term);
    bytes += Buffer.byteLength(term);
  }
  return bytes;
}
