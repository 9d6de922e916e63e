import { setImmediate as breathe } from "node:timers/promises";
import type { Ports } from "../platform/ports.ts";
import { chunkOf, firstOf, KEYS_PER_BLOCK } from "./block-positions.ts";
import { type Block, fetchBlocks } from "./blocks.ts";
import { SEGMENT_SIZE } from "./postings.ts";
import { SearchCache, type TextMatches } from "./search-cache.ts";
import { type JoinedTexts, joinTexts } from "./search-text.ts";
import { type IndexHead, longTextKey, type Texts, textsKey } from "./table.ts";
import type { TextTest } from "./text-filters.ts";
import { segmentsOf } from "./view.ts";

/** Blocks read concurrently. */
const READ_AT_ONCE = 64;

export const NO_TEXTS: Block<Texts> = { until: -1, value: [] };

/** The texts of a block, prepared for search. */
export interface TextContent extends JoinedTexts {
  /** Positions of texts that are in separate items. */
  readonly long: ReadonlySet<number>;
}

export interface TextBlock {
  readonly until: number;
  /** Missing if it is not in memory. */
  readonly content?: TextContent;
}

/** The texts of a segment in memory, at least as new as `asOf`, which is the head's `firstDelta` at that time. */
export interface CachedTexts {
  asOf: number;
  /** The head's `mergeResults` at that time. */
  merged: number;
  readonly blocks: Map<number, TextBlock>;
}

/** The texts in the blocks of an index, and search results in them. */
export class TextBlocks {
  readonly #deps: Pick<Ports, "tables">;
  readonly #name: string;
  readonly #segments = new Map<number, CachedTexts>();
  readonly #findings = new SearchCache();
  readonly #sizeMax: number;
  /** Characters in memory. */
  #size = 0;

  /** `sizeMax` is the maximum number of characters in memory; texts beyond it are read again for each new search. */
  constructor(deps: Pick<Ports, "tables">, name: string, sizeMax: number) {
    this.#sizeMax = sizeMax;
    this.#deps = deps;
    this.#name = name;
  }

  /** The cached texts of a segment for this head. */
  segment(head: IndexHead, segment: number): CachedTexts {
    const name = String(segment);
    const cached = this.#segments.get(segment) ?? { asOf: -1, merged: 0, blocks: new Map() };
    this.#segments.set(segment, cached);
    const rewritten = (head.changedTexts?.[name] ?? 0) > cached.asOf;
    if (!rewritten && (head.changed[name] ?? 0) <= cached.asOf) return cached;
    // Blocks that were not full may have new texts.
    for (const chunk of cached.blocks.keys())
      if (rewritten || firstOf(segment, chunk + 1) - 1 > cached.merged) this.#put(cached, chunk, undefined);
    cached.asOf = head.firstDelta;
    cached.merged = head.merged;
    return cached;
  }

  /** Tests the blocks of all segments, unless done before: segment -> matches of each condition. */
  async search(
    head: IndexHead,
    tests: readonly TextTest[],
  ): Promise<ReadonlyMap<number, readonly TextMatches[]>> {
    const found = new Map<number, readonly TextMatches[]>();
    if (tests.length === 0) return found;
    for (const segment of segmentsOf(head.low, head.merged)) {
      const findings = tests.map((test) => this.#findings.of(segment, test));
      found.set(segment, findings);
      const { blocks } = this.segment(head, segment);
      const unread: number[] = [];
      let searched = false;
      for (const chunk of chunksOf(head, segment)) {
        const block = blocks.get(chunk);
        const open = findings.filter((finding) => block === undefined || !finding.covers(chunk, block.until));
        if (open.length === 0) continue;
        searched = true;
        if (block?.content === undefined) unread.push(chunk);
        else for (const finding of open) finding.search(chunk, block.until, block.content);
      }
      if (unread.length > 0) await this.#searchUnread(head, segment, unread, findings);
      else if (searched) await breathe();
    }
    return found;
  }

  /** Whether the matches cover the whole segment for this head. */
  isWhole(head: IndexHead, segment: number, finding: TextMatches): boolean {
    const { blocks } = this.segment(head, segment);
    for (const chunk of chunksOf(head, segment)) {
      const block = blocks.get(chunk);
      if (block === undefined || block.until > head.nextDelta || !finding.covers(chunk, block.until))
        return false;
    }
    return true;
  }

  async #searchUnread(
    head: IndexHead,
    segment: number,
    chunks: readonly number[],
    findings: readonly TextMatches[],
  ): Promise<void> {
    const cached = this.segment(head, segment);
    const { asOf } = cached;
    for (let start = 0; start < chunks.length; start += READ_AT_ONCE) {
      const read = new Map<number, Block<Texts>>();
      const wanted = chunks.slice(start, start + READ_AT_ONCE).map((chunk) => ({
        key: textsKey(this.#name, firstOf(segment, chunk)),
        take: (item: { until: number; texts?: Texts } | undefined): void => {
          read.set(chunk, item === undefined ? NO_TEXTS : { until: item.until, value: item.texts ?? [] });
        },
      }));
      await fetchBlocks(this.#deps, wanted);
      for (const [chunk, { until, value }] of read) {
        const long = await this.#readLong(firstOf(segment, chunk), value);
        const content = toContent(value, long);
        // A read that started before a merge may return older data.
        if (content === undefined || cached.asOf !== asOf) continue;
        this.#put(cached, chunk, { until, content });
        for (const finding of findings) finding.search(chunk, until, content);
      }
    }
  }

  /** Position -> long text. */
  async #readLong(first: number, texts: Texts): Promise<Map<number, string>> {
    const long = new Map<number, string>();
    const wanted = texts.flatMap((text, offset) =>
      text !== null
        ? []
        : {
            key: longTextKey(this.#name, first + offset),
            take: (item: { texts?: Texts } | undefined): void => {
              const read = item?.texts?.[0];
              if (typeof read === "string") long.set(offset, read);
            },
          },
    );
    await fetchBlocks(this.#deps, wanted);
    return long;
  }

  /** Replaces cached blocks with merged ones, if the segment did not change since the merge started. */
  keep(segment: number, known: CachedTexts, head: IndexHead, blocks: ReadonlyMap<number, TextBlock>): void {
    if (this.#segments.get(segment) !== known || known.asOf > head.firstDelta) return;
    known.asOf = head.firstDelta;
    known.merged = head.merged;
    for (const [chunk, block] of blocks) {
      // Without the texts of a block that is full now, to which no later merge appends: a search reads them.
      const isNew = isFull(block) && !isFull(known.blocks.get(chunk));
      this.#put(known, chunk, isNew ? { until: block.until } : block);
    }
  }

  /** Drops blocks that others write too. */
  forget(known: CachedTexts, chunks: Iterable<number>): void {
    for (const chunk of chunks) this.#put(known, chunk, undefined);
  }

  /** Limits the memory. Every search reads all blocks in turn, so cached ones are kept. */
  #put({ blocks }: CachedTexts, chunk: number, block: TextBlock | undefined): void {
    this.#size -= blocks.get(chunk)?.content?.joined.length ?? 0;
    blocks.delete(chunk);
    if (block === undefined) return;
    const size = block.content?.joined.length ?? 0;
    const fits = this.#size + size <= this.#sizeMax;
    blocks.set(chunk, fits ? block : { until: block.until });
    if (fits) this.#size += size;
  }
}

const isFull = (block: TextBlock | undefined): boolean => block?.content?.ends.length === KEYS_PER_BLOCK;

/** The blocks of a segment with texts of numbers after `low` up to `mergeResults`. */
function* chunksOf({ low, merged }: IndexHead, segment: number): Generator<number> {
  const from = Math.max(low + 1, firstOf(segment, 0));
  const to = Math.min(merged, firstOf(segment, 0) + SEGMENT_SIZE - 1);
  for (let number = from - ((from - 1) % KEYS_PER_BLOCK); number <= to; number += KEYS_PER_BLOCK)
    yield chunkOf(number);
}

/** The content of a block; undefined if a long text is missing. */
export function toContent(texts: Texts, long: ReadonlyMap<number, string>): TextContent | undefined {
  const places = new Set<number>();
  const whole: string[] = [];
  for (const [offset, text] of texts.entries()) {
    const found = text ?? long.get(offset);
    if (found === undefined) return undefined;
    whole.push(found);
    if (text === null) places.add(offset);
  }
  return { ...joinTexts(whole), long: places };
}
