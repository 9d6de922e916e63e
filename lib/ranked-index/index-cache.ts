import type { Ports } from "../platform/ports.ts";
import { CONFLICT, retryOnConflict } from "../retry-on-conflict.ts";
import { type BlockRequest, Blocks, fetchBlocks } from "./blocks.ts";
import { Recent } from "./deltas.ts";
import {
  deltaKey,
  emptyHead,
  headKeyOf,
  type IndexDelta,
  type IndexHead,
  rankedIndexTable,
} from "./table.ts";
import { TextBlocks } from "./text-blocks.ts";
import { segmentsOf } from "./view.ts";

/** Attempts to read or write an index: all its writers conflict with each other. */
export const ATTEMPTS_MAX = 50;

/** A process's cache of an index: the newest head that it has seen, and the other data that it has read. */
export class IndexCache {
  readonly blocks: Blocks;
  readonly texts: TextBlocks;
  readonly #deps: Pick<Ports, "tables">;
  readonly #name: string;
  readonly #slots: number;
  #head: IndexHead | undefined;
  #recent = new Recent({ firstDelta: 0, merged: 0 });

  /** `slots` is the number of delta slots, `textsMax` the maximum number of text characters in memory. */
  constructor(
    deps: Pick<Ports, "tables">,
    name: string,
    { slots, textsMax }: { readonly slots: number; readonly textsMax: number },
  ) {
    this.#deps = deps;
    this.#name = name;
    this.#slots = slots;
    this.blocks = new Blocks(name);
    this.texts = new TextBlocks(deps, name, textsMax);
  }

  get head(): IndexHead | undefined {
    return this.#head;
  }

  get recent(): Recent {
    return this.#recent;
  }

  /** The keys of numbers in blocks; empty for records that were removed meanwhile. */
  readKeys(numbers: readonly number[]): Promise<string[]> {
    const read = async (attempt: number) => {
      // Missing keys may belong to removed records.
      const head = attempt > 0 ? await this.readHead() : (this.#head ?? emptyHead(this.#name));
      await fetchBlocks(this.#deps, this.blocks.wantKeys(head, numbers));
      const keys = numbers.map(
        (number) => this.blocks.key(head, number) ?? (number <= head.low ? "" : undefined),
      );
      if (!keys.every((key) => key !== undefined)) return CONFLICT;
      this.blocks.trim();
      return keys;
    };
    return retryOnConflict(read, {
      attempts: ATTEMPTS_MAX,
      exceeded: () => new Error(`the index ${this.#name} is inconsistent: numbers without a key`),
    });
  }

  /** The newest head, if all its deltas are known. */
  get whole(): IndexHead | undefined {
    return this.#head?.nextDelta === this.#recent.nextDelta ? this.#head : undefined;
  }

  /** Reads the head, then all unknown data that it references at once; returns the head. */
  async catchUp(terms: readonly string[] = []): Promise<IndexHead> {
    const head = await this.readHead();
    const deltas: IndexDelta[] = [];
    const wanted: BlockRequest[] = [];
    for (let delta = this.#recent.nextDelta; delta < head.nextDelta; delta += 1) {
      wanted.push({
        key: deltaKey(this.#name, delta, this.#slots),
        take: (item) => {
          if (item?.delta === delta) deltas.push(item);
        },
      });
    }
    for (const segment of segmentsOf(head.low, head.merged))
      wanted.push(...this.blocks.wantSets(head, segment, terms));
    await fetchBlocks(this.#deps, wanted);
    for (const delta of deltas) this.#recent.append(delta);
    return head;
  }

  async readHead(): Promise<IndexHead> {
    const head = await this.#deps.tables.get(rankedIndexTable, headKeyOf(this.#name));
    return this.notice(head ?? emptyHead(this.#name));
  }

  /** Returns the newest head seen. */
  notice(head: IndexHead): IndexHead {
    if (this.#head !== undefined && this.#head.version >= head.version) return this.#head;
    this.#head = head;
    const { firstDelta, merged, deltas } = this.#recent;
    if (head.firstDelta !== firstDelta || head.merged !== merged) {
      this.#recent = new Recent(head);
      for (const delta of deltas) this.#recent.append(delta);
    }
    return head;
  }
}
