import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "./cleanup.ts";
import { median } from "./numbers.ts";

const ROUNDS = 200;
const PAGE_BYTES = 4_096;

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
