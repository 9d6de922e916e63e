import { type Environment, openAws } from "../platform/aws/open.ts";
import { systemClock } from "../platform/clock.ts";
import { openDatabase } from "../platform/embedded/check-database.ts";
import { lockDataFolder } from "../platform/embedded/lock.ts";
import { embeddedTables } from "../platform/embedded/tables.ts";
import { PlatformFault } from "../platform/faults.ts";
import { systemIds } from "../platform/ids.ts";
import { jsonLog } from "../platform/json-log.ts";
import type { Log } from "../platform/log.ts";
import type { Ports } from "../platform/ports.ts";
import { PRODUCT_VERSION } from "../product-version.ts";
import { tables as specs } from "../tables.ts";
import { checkStoredRelease } from "../upgrades/release-state.ts";
import { releaseOf } from "../upgrades/releases.ts";
import { upgradeData } from "../upgrades/upgrade.ts";

// For commands that work without a server. They load no service: a command starts as fast as before.

export interface DataFolder {
  readonly deps: Pick<Ports, "tables" | "ids" | "clock">;
  /** Writes everything to disk and releases the lock. */
  close(): Promise<void>;
}

/**
 * Opens the tables of a data folder that no server uses; queues and schedules stay closed. Throws DataFolderInUseError,
 * DatabaseError, and UpgradeError if the folder is not of this release.
 */
export async function openDataFolder(dataDir: string): Promise<DataFolder> {
  const lock = lockDataFolder(dataDir);
  try {
    const write = (line: string): void => void process.stderr.write(line);
    const store = openDatabase(dataDir, jsonLog({ write, level: "error" }));
    try {
      const { port: tables } = store.defineTogether(() => embeddedTables(store, Object.values(specs)));
      await checkStoredRelease(
        tables,
        releaseOf(PRODUCT_VERSION),
        "start a server of this release on it once",
      );
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

export interface StackUpgrade {
  readonly stack: string;
  /** Region, credentials, endpoints and the bucket. */
  readonly environment: Environment;
  readonly log: Log;
  /** Default: the release of this version. */
  readonly release?: string;
}

/**
 * Migrates the stored data of a stack to a release and returns the release. Throws UpgradeError if a release would be
 * skipped, or while another process migrates.
 */
export async function upgradeStack({ stack, environment, log, release }: StackUpgrade): Promise<string> {
  const wanted = release ?? releaseOf(PRODUCT_VERSION);
  const aws = await openAws({
    stack,
    environment,
    log,
    resources: { tables: Object.values(specs), queues: [], rules: [], schedules: [] },
    commands: { run: () => Promise.reject(runRefused()) },
    scripts: { run: () => Promise.reject(runRefused()) },
  });
  try {
    await upgradeData(aws.ports, { release: wanted, isExclusive: false });
  } finally {
    await aws.close();
  }
  return wanted;
}

const runRefused = (): PlatformFault =>
  new PlatformFault("command_not_started", "commands and scripts are not available during an upgrade");
