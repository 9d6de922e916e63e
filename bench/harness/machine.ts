import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

const LOOK_MS = 1_000;
/** Maximum of busy cores on an idle machine. */
const IDLE_CORES = 0.15;

/** Average number of busy cores over one second. */
export async function busyCores(): Promise<number> {
  const before = times();
  await sleep(LOOK_MS);
  const after = times();
  return (cpus().length * (after.busy - before.busy)) / (after.all - before.all);
}

/** Waits until the machine is idle, at most `maxMs`. */
export async function untilIdle(maxMs: number): Promise<void> {
  const end = performance.now() + maxMs;
  while (performance.now() < end && (await busyCores()) > IDLE_CORES);
}

function times(): { readonly busy: number; readonly all: number } {
  let busy = 0;
  let idle = 0;
  for (const { times: of } of cpus()) {
    busy += of.user + of.nice + of.sys + of.irq;
    idle += of.idle;
  }
  return { busy, all: busy + idle };
}
