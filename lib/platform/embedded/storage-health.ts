import { open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { PlatformFault } from "../faults.ts";
import type { Log } from "../log.ts";
import type { StorageHealth } from "../storage-health.ts";
import { toStorageFault } from "./storage-faults.ts";

/** A file system with less free space than this, in bytes, counts as full. */
const FREE_MIN_BYTES = 256 * 1024;
/** A full storage counts as usable once this many bytes can be written; most changes need less. */
const PROBE_BYTES = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** An observed fault is not checked again for this many milliseconds. */
const CERTAIN_FOR_MS = 500;

/** Faults of the data folder. Damage persists until the next start checks the database. */
const STORAGE_CODES: ReadonlySet<string> = new Set(["storage_full", "storage_read_only", "storage_damaged"]);
const IO_CODES: ReadonlySet<unknown> = new Set(["EIO"]);
const SQLITE_IOERR = 10;

/** Tracks the faults of one data folder, and writes a test file there to detect that they are gone. */
export function storageHealth(dataDir: string, log: Pick<Log, "error" | "info">): StorageHealth {
  const probePath = join(dataDir, "write-probe");
  let current: PlatformFault | undefined;
  let observedAt = 0;
  let suspected = false;
  let checking: Promise<PlatformFault | undefined> | undefined;

  const observe = (fault: PlatformFault): void => {
    if (!isStorageFault(fault)) return;
    observedAt = performance.now();
    if (current?.code === fault.code || current?.code === "storage_damaged") return;
    current = fault;
    log.error("the storage is not available: no messages are received until it is", { error: fault });
  };
  const look = async (): Promise<PlatformFault | undefined> => {
    if (current?.code === "storage_damaged") return current;
    if (current !== undefined && performance.now() - observedAt < CERTAIN_FOR_MS) return current;
    const thorough = current !== undefined || suspected;
    suspected = false;
    const found = thorough ? await probe(probePath) : await noSpace(dataDir);
    if (found !== undefined) observe(found);
    else if (current !== undefined && performance.now() - observedAt >= CERTAIN_FOR_MS) {
      current = undefined;
      log.info("the storage is available again");
    }
    return current;
  };
  return {
    observe,
    suspect: (error) => {
      const fault = error instanceof PlatformFault ? error : toStorageFault(error);
      if (fault instanceof PlatformFault && isStorageFault(fault)) suspected = true;
    },
    check: () => {
      checking ??= look().finally(() => {
        checking = undefined;
      });
      return checking;
    },
  };
}

function isStorageFault({ code, cause }: PlatformFault): boolean {
  if (STORAGE_CODES.has(code)) return true;
  const { errcode, code: fileCode } = (cause ?? {}) as { errcode?: unknown; code?: unknown };
  return IO_CODES.has(fileCode) || (typeof errcode === "number" && (errcode & 0xff) === SQLITE_IOERR);
}

/** A cheap check that ignores quotas and space reserved for root, which the first fault reports. */
async function noSpace(dataDir: string): Promise<PlatformFault | undefined> {
  try {
    const { bfree, bsize, blocks } = await statfs(dataDir);
    // Some file systems have no fixed size.
    if (blocks === 0 || bfree * bsize >= FREE_MIN_BYTES) return undefined;
    return new PlatformFault("storage_full", `${bfree * bsize} bytes are free`);
  } catch (error) {
    return platformFault(error);
  }
}

async function probe(path: string): Promise<PlatformFault | undefined> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  try {
    const file = await open(path, "w", 0o600);
    try {
      for (let bytes = 0; bytes < PROBE_BYTES; bytes += CHUNK_BYTES) await file.writeFile(chunk);
      await file.datasync();
    } finally {
      await file.close();
    }
    return undefined;
  } catch (error) {
    return platformFault(error);
  } finally {
    await rm(path, { force: true }).catch(() => undefined);
  }
}

function platformFault(error: unknown): PlatformFault | undefined {
  const fault = toStorageFault(error);
  return fault instanceof PlatformFault ? fault : undefined;
}
