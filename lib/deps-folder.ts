import { systemClock } from "./platform/clock.ts";
import { openDatabase } from "./platform/embedded/check-database.ts";
import { lockDataFolder } from "./platform/embedded/lock.ts";
import { embeddedTables } from "./platform/embedded/tables.ts";
import { systemIds } from "./platform/ids.ts";
import { jsonLog } from "./platform/json-log.ts";
import type { Ports } from "./platform/ports.ts";
import { PRODUCT_VERSION } from "./platform/product-version.ts";
import { tables as specs } from "./tables.ts";
import { checkMark } from "./upgrades/mark.ts";
import { releaseOf } from "./upgrades/releases.ts";

export interface FolderDeps {
  readonly deps: Pick<Ports, "tables" | "ids" | "clock">;
  /** Brings to disk what was written, and gives the folder free. */
  close(): Promise<void>;
}

/**
 * The tables of a data folder that no server has, for a command that is over soon: nothing is delivered or fired
 * meanwhile. Throws DataFolderInUse, DatabaseUnusable, and UpgradeRefused where the folder is not of this release.
 */
export async function openFolderDeps(dataDir: string): Promise<FolderDeps> {
  const lock = lockDataFolder(dataDir);
  try {
    const write = (line: string): void => void process.stderr.write(line);
    const store = openDatabase(dataDir, jsonLog({ write, level: "error" }));
    try {
      const { port: tables } = store.defineTogether(() => embeddedTables(store, Object.values(specs)));
      await checkMark(tables, releaseOf(PRODUCT_VERSION), "start a server of this release on it once");
      return {
        deps: { tables, ids: systemIds(systemClock), clock: systemClock },
        close: async () => {
          await store.durable();
          store.close();
          lock.release();
        },
      };
    } catch (error) {
      store.close();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}
