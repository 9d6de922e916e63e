import { flushCompileCache } from "node:module";
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How often it is looked whether there is anything to do, milliseconds, and how often at most. */
const LOOK_EVERY_MS = 1_000;
const LOOKS_MAX = 60;
/** A server that is busy for less than this share of its time is idle. */
const IDLE = 0.02;

export interface SettleOptions {
  readonly settle?: () => void;
  /** The share of its time in which this process was busy since it was last asked for. */
  readonly busyShare?: () => number;
}

/**
 * Gives back once what only the start needed, in the first second in which the server has nothing to do: half of its
 * heap is then what loading code left behind, in pages that V8 keeps for as long as nobody asks. That takes some 40 ms,
 * so a server that is busy for the first minute is left alone.
 */
export function settleWhenIdle(options: SettleOptions = {}): void {
  const { settle = giveBack, busyShare = loopShare() } = options;
  let looks = 0;
  const timer = setInterval(() => {
    looks += 1;
    const idle = busyShare() < IDLE;
    if (idle || looks === LOOKS_MAX) clearInterval(timer);
    if (idle) settle();
  }, LOOK_EVERY_MS);
  timer.unref();
}

function loopShare(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/** As `--expose-gc` has it. */
type CollectGarbage = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/** What the start compiled is kept for the next one first, as long as it is there. */
function giveBack(): void {
  flushCompileCache();
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as CollectGarbage;
  setFlagsFromString("--no-expose-gc");
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}
