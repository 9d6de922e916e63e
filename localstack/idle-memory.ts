import { flushCompileCache } from "node:module";
import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Log } from "../lib/platform/log.ts";

/** How often it is looked whether there is anything to do, milliseconds, and how often at most. */
const LOOK_EVERY_MS = 1_000;
const LOOKS_MAX = 60;
/** A server that is busy for less than this share of its time is idle. */
const IDLE = 0.02;

export interface ReleaseWhenIdleOptions {
  readonly release?: () => void;
  /** The share of its time in which this process was busy since it was last asked for. */
  readonly busyShare?: () => number;
}

/**
 * Gives back once what only the start needed, in the first second in which the server has nothing to do: half of its
 * heap is then what loading code left behind, in pages that V8 keeps for as long as nobody asks. That takes some 40 ms,
 * so a server that is busy for the first minute is left alone.
 */
export function releaseWhenIdle(options: ReleaseWhenIdleOptions = {}): void {
  const { release: settle = releaseStartupMemory, busyShare = loopShare() } = options;
  let looks = 0;
  const timer = setInterval(() => {
    looks += 1;
    const idle = busyShare() < IDLE;
    if (idle || looks === LOOKS_MAX) clearInterval(timer);
    if (idle) settle();
  }, LOOK_EVERY_MS);
  timer.unref();
}

/** How often it is looked how far the heap has grown, and from where on what is garbage in it is collected. */
const GROWTH_LOOK_EVERY_MS = 60_000;
const GROWTH_BYTES = 8 * 1024 * 1024;

export interface CollectOptions {
  readonly collect?: () => void;
  /** Bytes of the heap that are in use, garbage among them. */
  readonly used?: () => number;
}

/**
 * Once a minute, collects what has become garbage in the old part of the heap. Under a steady load V8 would let it grow
 * to some times what lives there, over a quarter of an hour. What lives is marked in some 40 ms; a heap that has not
 * grown is left alone. Answers what ends it.
 */
export function collectPeriodically(options: CollectOptions = {}): () => void {
  const { collect = () => collectWhole("regular"), used = () => getHeapStatistics().used_heap_size } =
    options;
  let after = used();
  const timer = setInterval(() => {
    const now = used();
    if (now < after + GROWTH_BYTES) {
      after = Math.min(after, now);
      return;
    }
    collect();
    after = used();
  }, GROWTH_LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** How often it is looked whether a burst is over, and how much this process must have grown by for one. */
const BURST_LOOK_EVERY_MS = 15_000;
const BURST_BYTES = 16 * 1024 * 1024;

export interface BurstOptions {
  /** Gives back what others keep outside of the heap. */
  readonly release: () => Promise<void>;
  readonly log: Pick<Log, "warn">;
  readonly collect?: () => void;
  readonly busyShare?: () => number;
  /** Bytes of memory of this process. */
  readonly resident?: () => number;
}

/**
 * Gives back what a burst of work has left behind, once the server has nothing to do: the heap's free pages, and what
 * is kept outside of it. What comes first afterwards takes some milliseconds longer. A server that keeps its size is
 * left alone, whatever it is. Answers what ends it.
 */
export function releaseAfterBursts(options: BurstOptions): () => void {
  const { release, log, busyShare = loopShare(), collect = () => collectWhole("last-resort") } = options;
  const { resident = () => process.memoryUsage.rss() } = options;
  let least = resident();
  const timer = setInterval(() => {
    const now = resident();
    least = Math.min(least, now);
    if (busyShare() >= IDLE || now < least + BURST_BYTES) return;
    collect();
    release()
      .catch((error: unknown) => log.warn("memory could not be given back", { error }))
      .finally(() => {
        least = resident();
      });
  }, BURST_LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
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

type Flavor = "regular" | "last-resort";
/** As `--expose-gc` has it. */
type CollectGarbage = (options: { type: "major"; execution: "sync"; flavor: Flavor }) => void;

/** What the start compiled is kept for the next one first, as long as it is there. */
function releaseStartupMemory(): void {
  flushCompileCache();
  collectWhole("last-resort");
}

let collectGarbage: CollectGarbage | undefined;

function collectWhole(flavor: Flavor): void {
  if (collectGarbage === undefined) {
    setFlagsFromString("--expose-gc");
    collectGarbage = runInNewContext("gc") as CollectGarbage;
    setFlagsFromString("--no-expose-gc");
  }
  collectGarbage({ type: "major", execution: "sync", flavor });
}
