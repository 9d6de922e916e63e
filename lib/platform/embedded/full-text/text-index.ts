import { randomUUID } from "node:crypto";
import type { NewText, StoredText, TextPlace, TextTerm, TextWords } from "../../full-text.ts";
import { compressTextData, decompressTextData } from "../../stored-text-data.ts";
import type { Store } from "../store.ts";
import type { Tx } from "../transaction.ts";
import { type FoundRows, type KnownRows, PLACES } from "./protocol.ts";

/**
 * The words are the caller's: the tokenizer only splits them at spaces. The indexes have no copy of the text, and
 * comments and headings have their own, so that a search of them does not read the positions of all text.
 */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS full_text_index (id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS full_text_entries (
  row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version TEXT NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS full_text_words (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE IF NOT EXISTS full_text USING fts5(
  words, content = '', contentless_delete = 1, tokenize = 'ascii');
CREATE VIRTUAL TABLE IF NOT EXISTS full_text_top USING fts5(
  title, headings, content = '', contentless_delete = 1, tokenize = 'ascii');
CREATE VIRTUAL TABLE IF NOT EXISTS full_text_comments USING fts5(
  words, content = '', contentless_delete = 1, tokenize = 'ascii');
`;

/** Rows are never deleted. */
const NEXT_ROW = "SELECT ifnull(max(row), 0) + 1 AS row FROM full_text_entries";
/**
 * Row numbers of FTS5 are multiples of this. It marks the earlier text of a row as deleted in a hash table by number, and
 * probes it for each row that it reads: consecutive numbers would fill consecutive slots, which makes a search of common
 * words up to twelve times as slow once texts are indexed again in their order.
 */
const ROW_STEP = 3;
/** A word that no query has, between parts: a phrase does not match across it. */
const BOUNDARY = "¶";
/** Where the texts with each place are found. */
const TABLES: Readonly<Record<TextPlace, { readonly table: string; readonly column?: string }>> = {
  comment: { table: "full_text_comments" },
  body: { table: "full_text" },
  heading: { table: "full_text_top" },
  title: { table: "full_text_top", column: "title" },
};

/** Full-text search by SQLite's FTS5, in the thread of the index. Choice: infra/decisions/0127 and 0160. */
export class TextIndex {
  readonly #store: Store;
  readonly #id: string;
  #lastRow: number;

  constructor(store: Store) {
    this.#store = store;
    this.#id = store.defineTogether(() => {
      store.define(SCHEMA);
      const known = store.get("SELECT id FROM full_text_index")?.id;
      const id = known === undefined ? randomUUID() : String(known);
      if (known === undefined) store.get("INSERT INTO full_text_index (id) VALUES (?) RETURNING id", id);
      return id;
    });
    this.#lastRow = Number(store.get(NEXT_ROW)?.row) - 1;
  }

  get(ids: readonly string[]): StoredText[] {
    const sql =
      "SELECT id, version, data FROM full_text_entries WHERE id IN (SELECT value FROM json_each(?))";
    return this.#store.all(sql, JSON.stringify(ids)).map(
      ({ id, version, data }): StoredText => ({
        id: String(id),
        version: String(version),
        data: decompressTextData(data as Uint8Array),
      }),
    );
  }

  /** Resolves when the text is on disk: the caller forgets that it was to be indexed. */
  put({ id, version, data, words }: NewText, replaces: string | undefined): Promise<boolean> {
    const compressed = compressTextData(data);
    return this.#store.write((tx) => {
      const stored = tx.get("SELECT row, version FROM full_text_entries WHERE id = ?", id);
      if (stored?.version !== replaces) return false;
      const row = Number(stored?.row ?? tx.get(NEXT_ROW)?.row);
      tx.run(
        "INSERT INTO full_text_entries (row, id, version, data) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET version = excluded.version, data = excluded.data",
        row,
        id,
        version,
        compressed,
      );
      putWords(tx, row, words);
      tx.afterCommit(() => {
        this.#lastRow = Math.max(this.#lastRow, row);
      });
      tx.onceDurable(() => undefined);
      return true;
    });
  }

  find(terms: readonly TextTerm[], known: KnownRows): FoundRows {
    const store = this.#store;
    const query = terms.map((term) => toQuery(store, term)).join(" AND ");
    const after = known.index === this.#id ? known.rows : 0;
    const places = new Uint8Array(this.#lastRow + 1);
    for (const [at, place] of PLACES.entries()) {
      const { table, column } = TABLES[place];
      const sql = `SELECT json_group_array(rowid) AS rows FROM ${table} WHERE ${table} MATCH ?`;
      const found = store.get(sql, column === undefined ? query : `{${column}} : (${query})`);
      for (const row of JSON.parse(String(found?.rows)) as number[]) places[row / ROW_STEP] = at + 1;
    }
    const ids = after >= this.#lastRow ? "" : this.#idsAfter(after);
    return { index: this.#id, places, after, ids };
  }

  #idsAfter(row: number): string {
    const ids = new Array<string>(this.#lastRow - row).fill("");
    const sql = "SELECT id, row FROM full_text_entries WHERE row > ?";
    for (const found of this.#store.iterate(sql, row)) ids[Number(found.row) - row - 1] = String(found.id);
    return ids.join("\n");
  }
}

/** Words with a beginning that are listed in a query. */
const WORDS_MAX = 50;

const INSERT = {
  full_text: "INSERT OR REPLACE INTO full_text (rowid, words) VALUES (?, ?)",
  full_text_top: "INSERT OR REPLACE INTO full_text_top (rowid, title, headings) VALUES (?, ?, ?)",
  full_text_comments: "INSERT OR REPLACE INTO full_text_comments (rowid, words) VALUES (?, ?)",
} as const;

function putWords(tx: Tx, row: number, { title, headings, body, comments }: TextWords): void {
  const all = new Set([...title, ...headings, ...body, ...comments].flatMap((part) => part.split(" ")));
  tx.run("INSERT OR IGNORE INTO full_text_words SELECT value FROM json_each(?)", JSON.stringify([...all]));
  replaceRow(tx, "full_text", row, [[...title, ...headings, ...body]]);
  replaceRow(tx, "full_text_top", row, [title, headings]);
  replaceRow(tx, "full_text_comments", row, [comments]);
}

/** Without words, there is no row. */
function replaceRow(
  tx: Tx,
  table: keyof typeof INSERT,
  row: number,
  columns: readonly (readonly string[])[],
): void {
  const values = columns.map((parts) => parts.filter((words) => words !== "").join(` ${BOUNDARY} `));
  if (values.some((words) => words !== "")) tx.run(INSERT[table], row * ROW_STEP, ...values);
  else tx.run(`DELETE FROM ${table} WHERE rowid = ?`, row * ROW_STEP);
}

/**
 * An expression of FTS5. Words have letters, marks and digits only, so nothing in them is syntax. The few words with a
 * beginning are listed, because FTS5 copies the positions of all words with a beginning before it compares them.
 */
function toQuery(store: Store, { words, isPrefix }: TextTerm): string {
  const before = words.slice(0, -1);
  const last = words.at(-1) ?? "";
  const phrase = (end: string): string => `"${[...before, end].join(" ")}"`;
  if (!isPrefix) return phrase(last);
  const sql = "SELECT word FROM full_text_words WHERE word >= ? AND word < ? LIMIT ?";
  const found = store.all(sql, last, `${last}\u{10ffff}`, WORDS_MAX + 1);
  if (found.length > WORDS_MAX) return `${phrase(last)} *`;
  if (found.length === 0) return phrase(last);
  return `(${found.map(({ word }) => phrase(String(word))).join(" OR ")})`;
}
