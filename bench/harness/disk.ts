import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createTemporaryFolder } from "./cleanup.ts";
import { median, percentile } from "./numbers.ts";

const ROUNDS = 200;
const PAGE_BYTES = 4_096;
/** Between two pages, milliseconds: far from what a disk can do, so that its own pauses remain. */
const PAUSE_MS = 10;

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

/** Milliseconds of writing a page and of fdatasync, 100 times a second while nothing else uses the disk. */
export async function pausesOfDisk(seconds: number): Promise<Record<"p50" | "p99" | "max", number>> {
  const file = await open(join(createTemporaryFolder("pauses"), "file"), "w");
  const page = Buffer.alloc(PAGE_BYTES, "x");
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const start = performance.now();
    await file.write(page);
    await file.datasync();
    times.push(performance.now() - start);
    await setTimeout(PAUSE_MS);
  }
  await file.close();
  return { p50: median(times), p99: percentile(times, 0.99), max: Math.max(...times) };
}
