import type { Write } from "../platform/tables.ts";
import { chunkOf, firstOf, positionInBlock, segmentOf } from "./block-positions.ts";
import { type Block, type BlockRequest, unchangedSinceRead } from "./blocks.ts";
import type { Recent } from "./deltas.ts";
import { textAt } from "./search-text.ts";
import { type IndexHead, longTextKey, rankedIndexTable, type Texts, textsKey } from "./table.ts";
import {
  type CachedTexts,
  NO_TEXTS,
  type TextBlock,
  type TextBlocks,
  type TextContent,
  toContent,
} from "./text-blocks.ts";

/** Maximum bytes of a text in a block, so that 256 of them form an item of 64 KB. */
const SHORT_MAX_BYTES = 256;

const isLong = (text: string): boolean => Buffer.byteLength(text) > SHORT_MAX_BYTES;

/** The texts of a segment that a merge has written to blocks. */
export interface ChangedTexts {
  readonly known: CachedTexts;
  readonly blocks: Map<number, TextBlock>;
}

/** A block of texts to change. */
interface Part {
  readonly segment: number;
  readonly chunk: number;
  readonly known: CachedTexts;
  /** Position -> text. */
  readonly texts: Map<number, string>;
  /** The content of the block, if it is in memory. */
  readonly content: TextContent | undefined;
  block: Block<Texts> | undefined;
  /** Position -> previous `until`. */
  readonly long: Map<number, number>;
}

/** Merges the texts of deltas into blocks. */
export class TextMerge {
  readonly #name: string;
  readonly #until: number;
  readonly #parts = new Map<number, Part>();
  /** The lowest number with a new text; Infinity if there is none. */
  readonly lowest: number;

  constructor(name: string, blocks: TextBlocks, head: IndexHead, recent: Recent) {
    this.#name = name;
    this.#until = recent.nextDelta;
    let lowest = Number.POSITIVE_INFINITY;
    for (const [number, text] of recent.texts()) {
      lowest = Math.min(lowest, number);
      const segment = segmentOf(number);
      const first = firstOf(segment, chunkOf(number));
      const part = this.#parts.get(first) ?? newPart(segment, chunkOf(number), blocks.segment(head, segment));
      this.#parts.set(first, part);
      part.texts.set(positionInBlock(number), text);
    }
    this.lowest = lowest;
  }

  /** The items to read. */
  want(): BlockRequest[] {
    const wanted: BlockRequest[] = [];
    for (const [first, part] of this.#parts) {
      if (part.block === undefined) {
        wanted.push({
          key: textsKey(this.#name, first),
          take: (item) => {
            part.block = item === undefined ? NO_TEXTS : { until: item.until, value: item.texts ?? [] };
          },
        });
      }
      for (const [offset, text] of part.texts) {
        if (!isLong(text)) continue;
        wanted.push({
          key: longTextKey(this.#name, first + offset),
          take: (item) => part.long.set(offset, item?.until ?? -1),
        });
      }
    }
    return wanted;
  }

  /** The writes, once everything is read: long texts first, then the blocks that reference them. */
  plan(): { long: Write[]; blocks: Write[]; changed: ReadonlyMap<number, ChangedTexts> } {
    const until = this.#until;
    const long: Write[] = [];
    const blocks: Write[] = [];
    const changed = new Map<number, ChangedTexts>();
    for (const [first, part] of this.#parts) {
      const { block = NO_TEXTS, known } = part;
      for (const [offset, before] of part.long) {
        if (before >= until) continue;
        const item = { ...longTextKey(this.#name, first + offset), until, texts: [part.texts.get(offset)] };
        long.push({
          op: "put",
          table: rankedIndexTable,
          item,
          when: [unchangedSinceRead({ until: before })],
        });
      }
      const ofSegment = changed.get(part.segment) ?? { known, blocks: new Map<number, TextBlock>() };
      changed.set(part.segment, ofSegment);
      if (block.until >= until) {
        ofSegment.blocks.set(part.chunk, { until: block.until });
        continue;
      }
      const texts = changedTexts(part, block.value);
      const item = { ...textsKey(this.#name, first), until, texts };
      blocks.push({ op: "put", table: rankedIndexTable, item, when: [unchangedSinceRead(block)] });
      const content = toContent(texts, longTexts(part));
      ofSegment.blocks.set(part.chunk, content === undefined ? { until } : { until, content });
    }
    return { long, blocks, changed };
  }
}

function newPart(segment: number, chunk: number, known: CachedTexts): Part {
  const cached = known.blocks.get(chunk);
  const content = cached?.content;
  const block =
    cached === undefined || content === undefined
      ? undefined
      : { until: cached.until, value: textsOf(content) };
  return { segment, chunk, known, texts: new Map(), content, block, long: new Map() };
}

/** The texts in the block of a content. */
function textsOf(content: TextContent): Texts {
  return Array.from(content.ends, (_, offset) => (content.long.has(offset) ? null : textAt(content, offset)));
}

function changedTexts({ texts, long }: Part, before: Texts): Texts {
  const after = [...before];
  for (const [offset, text] of texts) after[offset] = long.has(offset) ? null : text;
  return Array.from(after, (text) => (text === undefined ? "" : text));
}

/** Position -> long text, if known. */
function longTexts({ texts, content, long }: Part): Map<number, string> {
  const known = new Map<number, string>();
  if (content !== undefined) for (const offset of content.long) known.set(offset, textAt(content, offset));
  for (const offset of long.keys()) known.set(offset, texts.get(offset) ?? "");
  return known;
}
