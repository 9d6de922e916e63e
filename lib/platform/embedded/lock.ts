import { chmodSync, closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeDataFolder } from "../data-folder.ts";
import { toStorageFault } from "./storage-faults.ts";

export class DataFolderInUseError extends Error {
  readonly code = "data_folder_in_use";
  constructor(dataDir: string, holder: string | undefined) {
    const who = holder === undefined ? "another Weft" : `another Weft (process ${holder})`;
    super(
      `The data folder ${dataDir} is in use by ${who}. Stop it, or choose another folder with WEFT_DATA_DIR.`,
    );
    this.name = "DataFolderInUseError";
  }
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}

function holderOf(pidPath: string): string | undefined {
  try {
    const text = readFileSync(pidPath, "utf8").trim();
    return /^\d+$/.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Creates the data folder (mode 0700) if it is missing, and locks it for this process. The lock is SQLite's lock of a
 * separate file: the system releases it however the process ends. Throws DataFolderInUseError if this or another process
 * holds it, and DataFolderError.
 */
export function lockDataFolder(dataDir: string): { release(): void } {
  const path = join(dataDir, "lock.db");
  // Never open the lock file by other means: closing it would release the lock (POSIX).
  const pidPath = join(dataDir, "lock.pid");
  let db: DatabaseSync | undefined;
  try {
    makeDataFolder(dataDir);
    closeSync(openSync(pidPath, "a", 0o600));
    db = new DatabaseSync(path, { timeout: 0 });
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    chmodSync(path, 0o600);
    writeFileSync(pidPath, `${process.pid}\n`);
  } catch (error) {
    db?.close();
    if (isBusy(error)) throw new DataFolderInUseError(dataDir, holderOf(pidPath));
    throw toStorageFault(error);
  }
  const held = db;
  return { release: () => held.close() };
}
