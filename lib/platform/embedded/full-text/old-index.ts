import type { Store } from "../store.ts";

const TABLES = ["full_text", "full_text_top", "full_text_comments", "full_text_entries", "full_text_words"];

/** Removes the index of earlier versions from the database of the tables: the documents are indexed again, elsewhere. */
export function dropOldIndex(store: Store): void {
  const isOld = store.get("SELECT 1 FROM sqlite_schema WHERE name = ?", TABLES[0] ?? "") !== undefined;
  if (isOld) store.defineTogether(() => TABLES.map((name) => store.define(`DROP TABLE IF EXISTS ${name}`)));
}
