import { join } from "node:path";
import { systemClock } from "./platform/clock.ts";
import { lockDataFolder } from "./platform/embedded/lock.ts";
import { openStore } from "./platform/embedded/store.ts";
import { embeddedTables } from "./platform/embedded/tables.ts";
import { systemIds } from "./platform/ids.ts";
import type { Ports } from "./platform/ports.ts";
import type { TableResource } from "./platform/resources.ts";

export interface FolderDeps {
  readonly deps: Pick<Ports, "tables" | "ids" | "clock">;
  /** Brings to disk what was written, and gives the folder free. */
  close(): Promise<void>;
}

/**
 * Some tables of a data folder that no server has, for a command that is over soon: nothing is delivered or fired
 * meanwhile. Throws DataFolderInUse.
 */
export function openFolderDeps(dataDir: string, specs: readonly TableResource[]): FolderDeps {
  const lock = lockDataFolder(dataDir);
  try {
    const store = openStore(join(dataDir, "weft.db"));
    const { port: tables } = store.defineTogether(() => embeddedTables(store, specs));
    return {
      deps: { tables, ids: systemIds(systemClock), clock: systemClock },
      close: async () => {
        await store.durable();
        store.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
