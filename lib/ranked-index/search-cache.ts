import { KEYS_PER_BLOCK, positionOf } from "./block-positions.ts";
import { applyOperations } from "./deltas.ts";
import { copyOf, type Dense, type Postings, popcount, SEGMENT_SIZE, WORDS } from "./postings.ts";
import { type JoinedTexts, searchTexts } from "./search-text.ts";
import { matchesText, type TextTest } from "./text-filters.ts";

/** Maximum number of cached results, about 10 KB each. */
const FINDINGS_MAX = 256;
const BLOCKS = SEGMENT_SIZE / KEYS_PER_BLOCK;
const WORDS_PER_BLOCK = WORDS / BLOCKS;

/** The matches of one condition in one segment, in its text blocks when they were searched. */
export class TextMatches {
  readonly #test: TextTest;
  readonly #words = new Uint32Array(WORDS);
  /** The `until` of each block at that time; NaN for blocks that were not searched. */
  readonly #untils = new Float64Array(BLOCKS).fill(Number.NaN);
  #set: Dense | undefined;

  constructor(test: TextTest) {
    this.#test = test;
  }

  /** Whether this version of a block was searched. */
  covers(chunk: number, until: number): boolean {
    return this.#untils[chunk] === until;
  }

  search(chunk: number, until: number, texts: JoinedTexts): void {
    const words = this.#words;
    words.fill(0, chunk * WORDS_PER_BLOCK, (chunk + 1) * WORDS_PER_BLOCK);
    searchTexts(texts, this.#test, (offset) => {
      const position = chunk * KEYS_PER_BLOCK + offset;
      words[position >>> 5] = (words[position >>> 5] ?? 0) | (1 << (position & 31));
    });
    this.#untils[chunk] = until;
    this.#set = undefined;
  }

  /** The positions after applying changed texts; do not modify. */
  after(texts: ReadonlyMap<number, string>): Postings {
    this.#set ??= { kind: "dense", count: popcount(this.#words), words: this.#words };
    if (texts.size === 0) return this.#set;
    const operations = Array.from(texts, ([number, text]) => ({
      position: positionOf(number),
      present: matchesText(text, this.#test),
    }));
    return applyOperations(copyOf(this.#set), operations);
  }
}

/** Recent search results: paging through a search searches only once. */
export class SearchCache {
  readonly #findings = new Map<string, TextMatches>();

  of(segment: number, test: TextTest): TextMatches {
    const name = `${segment} ${test.name}`;
    const finding = this.#findings.get(name) ?? new TextMatches(test);
    this.#findings.delete(name);
    this.#findings.set(name, finding);
    for (const oldest of this.#findings.keys()) {
      if (this.#findings.size <= FINDINGS_MAX) break;
      this.#findings.delete(oldest);
    }
    return finding;
  }
}
