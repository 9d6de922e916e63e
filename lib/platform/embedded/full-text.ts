import type { FullText, StoredText, TextPlace, TextTerm, TextWords } from "../full-text.ts";
import type { Store } from "./store.ts";
import type { Tx } from "./transaction.ts";

/**
 * The words are the caller's: the tokenizer only splits them at spaces. The indexes have no copy of the text, and
 * comments and headings have their own, so that a search of them does not read the positions of all text.
 */
const SCHEMA = `
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

/** A word that no query has, between parts: a phrase does not match across it. */
const BOUNDARY = "¶";
/** Statements for the places, the last one first: better places overwrite others. */
const FIND: readonly { readonly place: TextPlace; readonly table: string; readonly column?: string }[] = [
  { place: "comment", table: "full_text_comments" },
  { place: "body", table: "full_text" },
  { place: "heading", table: "full_text_top" },
  { place: "title", table: "full_text_top", column: "title" },
];

export interface EmbeddedFullText {
  readonly port: FullText;
  /** Releases the memory of the row numbers. */
  releaseMemory(): void;
}

/** Full-text search by SQLite's FTS5. Choice: infra/decisions/0127. */
export function embeddedFullText(store: Store): EmbeddedFullText {
  store.define(SCHEMA);
  /** Row numbers of all ids, and the largest one. */
  let rows: Map<string, number> | undefined;
  let lastRow = 0;
  const readRows = (): ReadonlyMap<string, number> => {
    if (rows !== undefined) return rows;
    rows = new Map();
    for (const { id, row } of store.iterate("SELECT id, row FROM full_text_entries ORDER BY row")) {
      lastRow = Number(row);
      rows.set(String(id), lastRow);
    }
    return rows;
  };
  const port: FullText = {
    get: async (ids) => {
      const sql =
        "SELECT id, version, data FROM full_text_entries WHERE id IN (SELECT value FROM json_each(?))";
      return store.all(sql, JSON.stringify(ids)).map(
        ({ id, version, data }): StoredText => ({
          id: String(id),
          version: String(version),
          data: data as Uint8Array,
        }),
      );
    },
    put: ({ id, version, data, words }, replaces) =>
      store.write((tx) => {
        const stored = tx.get("SELECT row, version FROM full_text_entries WHERE id = ?", id);
        if (stored?.version !== replaces) return false;
        tx.run(
          "INSERT INTO full_text_entries (id, version, data) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET version = excluded.version, data = excluded.data",
          id,
          version,
          data,
        );
        const row = Number(stored?.row ?? tx.get("SELECT row FROM full_text_entries WHERE id = ?", id)?.row);
        putWords(tx, row, words);
        tx.afterCommit(() => {
          rows?.set(id, row);
          lastRow = Math.max(lastRow, row);
        });
        return true;
      }),
    find: async (terms, ids) => {
      const known = readRows();
      const query = terms.map((term) => toQuery(store, term)).join(" AND ");
      const places = new Uint8Array(lastRow + 1);
      for (const [at, { table, column }] of FIND.entries()) {
        const sql = `SELECT json_group_array(rowid) AS rows FROM ${table} WHERE ${table} MATCH ?`;
        const found = store.get(sql, column === undefined ? query : `{${column}} : (${query})`);
        for (const row of JSON.parse(String(found?.rows)) as number[]) places[row] = at + 1;
      }
      const matches = new Map<string, TextPlace>();
      for (const id of ids) {
        const found = FIND[(places[known.get(id) ?? 0] ?? 0) - 1];
        if (found !== undefined) matches.set(id, found.place);
      }
      return matches;
    },
  };
  return {
    port,
    releaseMemory: () => {
      rows = undefined;
    },
  };
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
  if (values.some((words) => words !== "")) tx.run(INSERT[table], row, ...values);
  else tx.run(`DELETE FROM ${table} WHERE rowid = ?`, row);
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
