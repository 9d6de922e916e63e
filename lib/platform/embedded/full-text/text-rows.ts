import type { TextPlace } from "../../full-text.ts";
import { type FoundRows, type KnownRows, PLACES } from "./protocol.ts";

type Texts = readonly { readonly id: string }[];

/** The row numbers of texts in the index. Its thread tells them once: rows are never deleted. */
export class TextRows {
  #known: KnownRows = { index: "", rows: 0 };
  #rows = new Map<string, number>();
  /** The rows of lists of texts that were searched before, 0 for unknown ones, as of a number of known rows. */
  #rowsOfLists = new WeakMap<Texts, { readonly known: number; readonly rows: Int32Array }>();

  get known(): KnownRows {
    return this.#known;
  }

  forget(): void {
    this.#known = { index: "", rows: 0 };
    this.#rows = new Map();
    this.#rowsOfLists = new WeakMap();
  }

  /** Returns false if the rows before those that were found are unknown by now. */
  learn({ index, places, after, ids }: FoundRows): boolean {
    if (index !== this.#known.index) this.forget();
    if (after > this.#known.rows) return false;
    if (ids !== "") for (const [at, id] of ids.split("\n").entries()) this.#rows.set(id, after + 1 + at);
    this.#known = { index, rows: Math.max(this.#known.rows, places.length - 1) };
    return true;
  }

  placesOf(texts: Texts, { places }: FoundRows): (TextPlace | undefined)[] {
    return Array.from(this.#rowsOf(texts), (row) => PLACES[(places[row] ?? 0) - 1]);
  }

  #rowsOf(texts: Texts): Int32Array {
    const kept = this.#rowsOfLists.get(texts);
    if (kept?.known === this.#known.rows) return kept.rows;
    const rows = Int32Array.from(texts, ({ id }) => this.#rows.get(id) ?? 0);
    this.#rowsOfLists.set(texts, { known: this.#known.rows, rows });
    return rows;
  }
}
