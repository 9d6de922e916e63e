import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createTemporaryFolder } from "./cleanup.ts";
import { median, percentile } from "./numbers.ts";

const ROUNDS = 200;
const PAGE_BYTES = 4_096;
/** Between two pages, milliseconds: far from what a disk can do, so that its own pauses remain. */
const PAUSE_MS = 40;

/** Time to write and fsync one page, milliseconds: the minimum of a durable commit. */
export const fsyncMs = (): number => median(fsyncTimes(ROUNDS));

/** As many of these times as wanted. */
export function fsyncTimes(rounds: number): readonly number[] {
  const file = openSync(join(createTemporaryFolder("fsync"), "file"), "w");
  const page = Buffer.alloc(PAGE_BYTES, "x");
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    writeSync(file, page);
    fsyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  return times;
}

export interface DiskReport {
  /** Milliseconds of one write with its sync. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Percent of the time that passed in writes of more than `stallMs`. */
  readonly stalled: number;
}

/** Writes and syncs the same page, 25 times a second from now on, next to whatever uses the disk. */
export function watchDisk(stallMs: number): {
  /** Percent of the time since the last call, as `stalled`. */
  recent(): number;
  stop(): Promise<DiskReport>;
} {
  const start = { at: performance.now(), count: 0 };
  const times: number[] = [];
  let last = start;
  let isStopped = false;
  const stalled = (from: typeof start): number => {
    const long = times.slice(from.count).filter((ms) => ms > stallMs);
    return (100 * long.reduce((sum, ms) => sum + ms, 0)) / (performance.now() - from.at);
  };
  const watch = async (): Promise<void> => {
    const file = await open(join(createTemporaryFolder("pauses"), "file"), "w");
    const page = Buffer.alloc(PAGE_BYTES, "x");
    while (!isStopped) {
      const from = performance.now();
      await file.write(page, 0, PAGE_BYTES, 0);
      await file.datasync();
      times.push(performance.now() - from);
      // After a failed load, nobody stops it.
      await setTimeout(PAUSE_MS, undefined, { ref: false });
    }
    await file.close();
  };
  const watched = watch();
  return {
    recent: () => {
      const share = stalled(last);
      last = { at: performance.now(), count: times.length };
      return share;
    },
    stop: async () => {
      isStopped = true;
      await watched;
      return {
        p50: median(times),
        p99: percentile(times, 0.99),
        max: percentile(times, 1),
        stalled: stalled(start),
      };
    },
  };
}
