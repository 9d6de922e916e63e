import { setTimeout as sleep } from "node:timers/promises";
import type { Ports } from "../platform/ports.ts";
import { Blocks, fetchWanted, type Wanted } from "./blocks.ts";
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

const TRIES_MAX = 50;
/** Attempts without a pause, and the maximum pause in milliseconds. */
const HASTY_TRIES = 3;
const PAUSE_MAX_MS = 50;

/** Waits: a transaction that is partly visible will soon be complete. */
export async function pauseBefore(attempt: number): Promise<void> {
  if (attempt >= HASTY_TRIES) await sleep(Math.min(PAUSE_MAX_MS, attempt * 2));
}

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
  async readKeys(numbers: readonly number[]): Promise<string[]> {
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      await pauseBefore(attempt);
      // Missing keys may belong to removed records.
      const head = attempt > 0 ? await this.readHead() : (this.#head ?? emptyHead(this.#name));
      await fetchWanted(this.#deps, this.blocks.wantKeys(head, numbers));
      const keys = numbers.map(
        (number) => this.blocks.key(head, number) ?? (number <= head.low ? "" : undefined),
      );
      if (keys.every((key) => key !== undefined)) {
        this.blocks.trim();
        return keys;
      }
    }
    throw new Error(`the index ${this.#name} has numbers without a key`);
  }

  /** The newest head, if all its deltas are known. */
  get whole(): IndexHead | undefined {
    return this.#head?.nextDelta === this.#recent.nextDelta ? this.#head : undefined;
  }

  /** Reads the head, then all unknown data that it references at once; returns the head. */
  async catchUp(terms: readonly string[] = []): Promise<IndexHead> {
    const head = await this.readHead();
    const deltas: IndexDelta[] = [];
    const wanted: Wanted[] = [];
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
    await fetchWanted(this.#deps, wanted);
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
