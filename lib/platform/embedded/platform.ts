import type { UploadReceiver } from "../blobs.ts";
import { type Clock, systemClock } from "../clock.ts";
import type { Commands } from "../commands.ts";
import type { PlatformFault } from "../faults.ts";
import { systemIds } from "../ids.ts";
import { checkResources } from "../limits-resources.ts";
import type { Log } from "../log.ts";
import type { Ports } from "../ports.ts";
import type { Resources } from "../resources.ts";
import type { Scripts } from "../scripts.ts";
import type { StorageHealth } from "../storage-health.ts";
import { openBlobs } from "./blobs.ts";
import { embeddedBus } from "./bus.ts";
import { openDatabase } from "./check-database.ts";
import { embeddedClaims } from "./claims.ts";
import { fullTextThread } from "./full-text/client.ts";
import { dropOldIndex } from "./full-text/old-index.ts";
import { type HostileOptions, hostilePorts } from "./hostile.ts";
import { lockDataFolder } from "./lock.ts";
import { embeddedOutbox } from "./outbox.ts";
import { embeddedQueues } from "./queues.ts";
import { ownClock, startScheduler } from "./scheduler.ts";
import { type FileSecrets, fileSecrets } from "./secrets.ts";
import { embeddedTables } from "./tables.ts";
import { embeddedTimers } from "./timers.ts";

let trim: ((pad: number) => number) | undefined;

/**
 * Makes the C library return freed memory to the system: after a burst, it holds tens of megabytes in fragments between
 * used blocks. Does nothing if the library has no such function.
 */
async function trimHeap(log: Pick<Log, "debug">): Promise<void> {
  if (process.platform !== "linux") return;
  try {
    if (trim === undefined) {
      const { load } = await import("koffi");
      trim = load(null).func("int malloc_trim(size_t pad)") as (pad: number) => number;
    }
    trim(0);
  } catch (error) {
    // musl has no malloc_trim and does not need it.
    log.debug("freed memory cannot be returned to the system", { error: String(error) });
  }
}

export interface EmbeddedOptions {
  /** Created (mode 0700) if missing; one process at a time holds it. */
  readonly dataDir: string;
  readonly resources: Resources;
  readonly clock?: Clock;
  readonly log: Log;
  readonly commands: Commands;
  readonly scripts: Scripts;
  /** Required if the log redacts with the same secrets; default: the secrets of the data folder. */
  readonly secrets?: FileSecrets;
  /** Receives the faults of the storage. */
  readonly storage?: StorageHealth;
  /** Simulates AWS's failures at the ports. For tests. */
  readonly hostile?: HostileOptions;
}

export interface EmbeddedPlatform {
  readonly ports: Ports;
  readonly secrets: FileSecrets;
  /** Accepts uploads for the gateway. */
  readonly uploads: UploadReceiver;
  /** Processes timers, delays and schedules that are due now. For tests that move the clock. */
  poke(): Promise<void>;
  /** Resolves when all committed data is on disk; nothing is reported outside before that. */
  durable(): Promise<void>;
  /** Releases memory of caches, for an idle server. */
  releaseMemory(): Promise<void>;
  /** Waits for pending commits, ends waiting receives with an empty list, and releases the data folder. */
  close(): Promise<void>;
}

/**
 * The whole platform in one data folder, with the tables, queues, rules and schedules of `resources`; other data in the
 * folder is not changed. Throws DataFolderInUseError, DatabaseError, or PlatformFault if the folder is not writable or
 * AWS would reject the resources.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedPlatform> {
  const { dataDir, resources, clock = systemClock, log, commands, scripts, hostile } = options;
  checkResources(resources);
  const undo: (() => void)[] = [];
  const release = (): void => {
    for (const step of undo.splice(0).reverse()) step();
  };
  try {
    const lock = lockDataFolder(dataDir);
    undo.push(() => lock.release());
    const observe = (fault: PlatformFault): void => options.storage?.observe(fault);
    const store = openDatabase(dataDir, log, observe);
    undo.push(() => store.close());
    const { receiver, ...blobs } = await openBlobs(dataDir, clock, observe);
    const secrets = options.secrets ?? fileSecrets(dataDir);
    const { tables, queues, bus, scheduler, timers } = store.defineTogether(() => {
      const queues = embeddedQueues({ store, clock, log, resources: resources.queues });
      undo.push(() => queues.close());
      const scheduler = startScheduler({ store, clock, log, schedules: resources.schedules, queues });
      undo.push(() => scheduler.close());
      return {
        tables: embeddedTables(store, resources.tables),
        queues,
        bus: embeddedBus({ store, clock, rules: resources.rules, queues }),
        scheduler,
        timers: embeddedTimers(store, queues),
      };
    });
    dropOldIndex(store);
    const fullText = fullTextThread({ dataDir, log, observe, durable: () => store.durable() });
    const honest: Ports = {
      tables: tables.port,
      outbox: embeddedOutbox(store, tables, bus, queues),
      bus: bus.port,
      queues: queues.port,
      timers,
      scheduler: ownClock,
      blobs,
      claims: embeddedClaims(),
      fullText: fullText.port,
      commands,
      scripts,
      secrets,
      clock,
      ids: systemIds(clock),
      log,
    };
    return {
      ports: hostile === undefined ? honest : hostilePorts(honest, hostile, resources),
      secrets,
      uploads: receiver,
      poke: async () => {
        await queues.delayed.poke();
        await scheduler.poke();
      },
      durable: () => store.durable(),
      releaseMemory: async () => {
        await fullText.releaseMemory();
        store.shrink();
        await trimHeap(log);
      },
      close: async () => {
        await fullText.close();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}
