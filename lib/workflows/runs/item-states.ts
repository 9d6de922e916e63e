import type { HistoryEntry } from "../engine/history.ts";
import { parsePositions } from "../engine/item-positions.ts";

/** Number of states in a record; each stands for several items of a longer list. */
const STATES_MAX = 10_000;

/** From the one that matters most to a reader: of several items, it is shown. */
const LETTERS = ["f", "r", "p", "s", "c"] as const;
type Letter = (typeof LETTERS)[number];

/** The states of the items of a foreach. */
export class ItemStates {
  /** Positions in `LETTERS`. */
  readonly #states: Uint8Array;
  #step = "";
  #failed = 0;

  constructor(total: number) {
    this.#states = new Uint8Array(total).fill(LETTERS.indexOf("p"));
  }

  /** Records the start of an item or of a batch of items of a step. */
  begin(step: string, [from, to]: readonly [from: number, to: number]): void {
    this.#step = step;
    this.#set(from, to, "r");
  }

  #set(from: number, to: number, letter: Letter): void {
    this.#states.fill(LETTERS.indexOf(letter), from, to);
  }

  /** Records the end of an item or of a batch of items. */
  finish(
    [from, to]: readonly [from: number, to: number],
    { status, failed_items, failed_at }: Extract<HistoryEntry, { type: "step.finished" }>,
  ): void {
    const isBatch = failed_items !== undefined;
    this.#set(from, to, status === "skipped" ? "s" : status === "failed" && !isBatch ? "f" : "c");
    for (const [first, last] of parsePositions(failed_at ?? "")) this.#set(first, last + 1, "f");
    this.#failed += failed_items ?? (status === "failed" ? to - from : 0);
  }

  toRecord() {
    const total = this.#states.length;
    const size = Math.max(1, Math.ceil(total / STATES_MAX));
    let states = "";
    let [last, count] = [-1, 0];
    const flush = (): void => {
      if (count > 0) states += `${count}${LETTERS[last]}`;
    };
    for (let from = 0; from < total; from += size) {
      const state = Math.min(...this.#states.subarray(from, from + size));
      if (state !== last) {
        flush();
        [last, count] = [state, 0];
      }
      count += 1;
    }
    flush();
    const done = this.#states.reduce(
      (sum, state) => sum + (LETTERS[state] === "c" || LETTERS[state] === "s" ? 1 : 0),
      0,
    );
    return { step: this.#step, total, completed: done, failed: this.#failed, items_per_state: size, states };
  }
}
