import { copyFile, mkdir, open, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Fields } from "../log.ts";
import { openDatabase } from "./check-database.ts";
import { Store } from "./store.ts";
import { temporaryFolder } from "./test-platform.ts";

const FRAME_BYTES = 4096 + 24;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let logged: (Fields | undefined)[];
beforeEach(async () => {
  folder = await temporaryFolder();
  logged = [];
});
afterEach(() => folder.remove());

const at = (name: string): string => join(folder.path, name);
const log = { error: (_message: string, fields?: Fields) => void logged.push(fields) };
const openIt = () => openDatabase(folder.path, log);

/** Creates a database with these rows; `killed` keeps its log as a killed process leaves it. */
async function fill(rows: number, options: { readonly killed?: boolean } = {}): Promise<void> {
  const store = new Store(at("weft.db"));
  store.define("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  for (let n = 0; n < rows; n += 1)
    await store.write((tx) => tx.run("INSERT INTO t (text) VALUES (?)", "x".repeat(1000)));
  await store.durable();
  const names = ["weft.db", "weft.db-wal"];
  if (options.killed) for (const name of names) await copyFile(at(name), at(`${name}.kept`));
  store.close();
  if (options.killed) for (const name of names) await copyFile(at(`${name}.kept`), at(name));
}

async function damage(name: string, position: number): Promise<void> {
  const file = await open(at(name), "r+");
  const { buffer } = await file.read(Buffer.alloc(64), 0, 64, position);
  await file.write(
    buffer.map((byte) => byte ^ 0xff),
    0,
    64,
    position,
  );
  await file.close();
}

const count = (store: ReturnType<typeof openIt>): unknown => store.get("SELECT count(*) AS n FROM t")?.n;

describe("opening the database of a data folder", () => {
  it("opens an intact database after a stop and after a kill, and logs nothing", async () => {
    await fill(50);
    let store = openIt();
    expect(count(store)).toBe(50);
    store.close();
    await fill(20, { killed: true });
    store = openIt();
    expect(count(store)).toBe(70);
    store.close();
    expect(logged).toEqual([]);
  });

  it.each([4096 * 3, 4096 * 5, 100])("rejects a database that is damaged at byte %i", async (position) => {
    await fill(50);
    await damage("weft.db", position);
    expect(openIt).toThrow(/weft\.db is damaged .*restore the data folder from a backup/s);
  });

  it("rejects a truncated database and files of other formats", async () => {
    await fill(50);
    await truncate(at("weft.db"), (await stat(at("weft.db"))).size - 8192);
    expect(openIt).toThrow(/is damaged/);
    await writeFile(at("weft.db"), "no database at all ".repeat(1000));
    expect(openIt).toThrow(/is damaged/);
  });

  it("does not create a database beside the other files of a server", async () => {
    await fill(5);
    await mkdir(at("blobs"));
    await writeFile(at("access-token"), "t");
    openIt().close();
    await truncate(at("weft.db"));
    expect(openIt).toThrow(/weft\.db is empty, but the folder contains files of an earlier server/);
    await rm(at("weft.db"));
    expect(openIt).toThrow(/weft\.db is missing/);
    await rm(at("access-token"));
    await mkdir(at("blobs/runs"));
    expect(openIt).toThrow(/weft\.db is missing/);
    await rm(at("blobs"), { recursive: true });
    openIt().close();
  });

  it("logs how much of a killed server's log is lost to damage, and continues with the rest", async () => {
    await fill(40, { killed: true });
    const frames = ((await readFile(at("weft.db-wal"))).length - 32) / FRAME_BYTES;
    await damage("weft.db-wal", 32 + 60 * FRAME_BYTES + 500);
    const store = openIt();
    expect(count(store)).toBeLessThan(40);
    expect(count(store)).toBeGreaterThan(10);
    store.close();
    expect(logged).toEqual([{ file: at("weft.db-wal"), pages_read: 60, pages_lost: frames - 60 }]);
  });
});
