import { join } from "node:path";
import { expect, it } from "vitest";
import { Store } from "../store.ts";
import { temporaryFolder } from "../test-platform.ts";
import { dropOldIndex } from "./old-index.ts";

it("removes the index of an earlier version, once", async () => {
  const folder = await temporaryFolder();
  const store = new Store(join(folder.path, "weft.db"));
  const tables = () => store.all("SELECT name FROM sqlite_schema WHERE name LIKE 'full_text%'").length;
  store.define(`
    CREATE TABLE full_text_entries (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
    CREATE TABLE full_text_words (word TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE VIRTUAL TABLE full_text USING fts5(words, content = '', contentless_delete = 1);
    CREATE VIRTUAL TABLE full_text_top USING fts5(title, headings, content = '', contentless_delete = 1);
    CREATE VIRTUAL TABLE full_text_comments USING fts5(words, content = '', contentless_delete = 1)`);
  expect(tables()).toBeGreaterThan(5);
  dropOldIndex(store);
  expect(tables()).toBe(0);
  dropOldIndex(store);
  store.close();
  await folder.remove();
});
