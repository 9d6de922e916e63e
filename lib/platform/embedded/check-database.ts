import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { PlatformFault } from "../faults.ts";
import type { Log } from "../log.ts";
import { countLogFrames } from "./log-frames.ts";
import { Store } from "./store.ts";

/** Maximum size in bytes of a database that is checked completely, which takes a tenth of a second. */
const WHOLE_MAX_BYTES = 32 * 1024 * 1024;
/**
 * Of a larger database, only small tables and the start of the others are checked, for at most this many milliseconds.
 */
const PARTS_MS = 300;
const PART_ROWS = 2_000;

const RESTORE = "restore the data folder from a backup";

/** The database of a data folder cannot be used. The message states the reason and the remedy. */
export class DatabaseError extends Error {
  readonly code = "database_unusable";
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "DatabaseError";
  }
}

/**
 * Opens the database of a data folder, and checks it within the time that a start may take. Logs which part of its log
 * SQLite drops. Throws DatabaseError if it is damaged or missing.
 */
export function openDatabase(
  dataDir: string,
  log: Pick<Log, "error">,
  observe?: (fault: PlatformFault) => void,
): Store {
  const path = join(dataDir, "weft.db");
  const bytes = sizeOf(path);
  if (bytes === 0 && isUsed(dataDir)) {
    const found = existsSync(path) ? "is empty" : "is missing";
    throw new DatabaseError(
      `The database ${path} ${found}, but the folder contains files of an earlier server: ${RESTORE}, or choose another folder with WEFT_DATA_DIR.`,
    );
  }
  const hasLog = sizeOf(`${path}-wal`) > 0;
  reportDropped(`${path}-wal`, log);
  let store: Store | undefined;
  try {
    store = new Store(path, observe);
    if (bytes > 0) check(store, bytes, hasLog);
    return store;
  } catch (error) {
    store?.close();
    if (error instanceof PlatformFault && error.code === "storage_damaged")
      throw new DatabaseError(`The database ${path} is damaged (${error.message}): ${RESTORE}.`, error);
    throw error;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Whether a server has used the folder: it creates the database before the blobs and the token. */
function isUsed(dataDir: string): boolean {
  const blobs = join(dataDir, "blobs");
  if (!existsSync(blobs)) return false;
  return existsSync(join(dataDir, "access-token")) || readdirSync(blobs).length > 0;
}

function reportDropped(path: string, log: Pick<Log, "error">): void {
  const frames = countLogFrames(path);
  if (frames === undefined || frames.dropped === 0) return;
  log.error("the write-ahead log of the database is damaged: changes after the damage are lost", {
    file: path,
    pages_read: frames.valid,
    pages_lost: frames.dropped,
  });
}

/** Throws PlatformFault `storage_damaged`. */
function check(store: Store, bytes: number, hasLog: boolean): void {
  const size = store.get(
    "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size",
  )?.bytes;
  if (!hasLog && Number(size) > bytes) throw damage("it is truncated");
  if (bytes <= WHOLE_MAX_BYTES) {
    quickCheck(store, "PRAGMA quick_check(1)");
    return;
  }
  const until = performance.now() + PARTS_MS;
  const names = store.all("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0");
  for (const name of names.map((row) => `"${String(row.name).replaceAll('"', '""')}"`)) {
    if (performance.now() > until) return;
    // Of a large table, reads only the pages of its first rows.
    const few = store.get(`SELECT count(*) AS rows FROM (SELECT 1 FROM ${name} LIMIT ${PART_ROWS})`)?.rows;
    if (Number(few) < PART_ROWS) quickCheck(store, `PRAGMA quick_check(${name})`);
  }
}

function quickCheck(store: Store, sql: string): void {
  const found = store.get(sql)?.quick_check;
  if (found !== "ok") throw damage(String(found));
}

const damage = (what: string) => new PlatformFault("storage_damaged", what);
