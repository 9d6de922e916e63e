import { flushCompileCache } from "node:module";
import {
  constants,
  type NodeGCPerformanceDetail,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Log } from "../lib/platform/log.ts";

/** Interval of checks for idleness, milliseconds, and their limit. */
const CHECK_INTERVAL_MS = 1_000;
const CHECKS_MAX = 60;
/** A server that is busy for less than this share of the time is idle. */
const IDLE_SHARE = 0.02;

export interface ReleaseWhenIdleOptions {
  readonly release?: () => void;
  /** The share of the time since its last call in which this process was busy. */
  readonly busyShare?: () => number;
}

/**
 * Releases memory that only the start needed, once, in the first idle second: half of the heap is then garbage of
 * loading code, in pages that V8 keeps until it is told to release them. A collection takes some 40 ms, so it is skipped
 * if the server is busy for the first minute.
 */
export function releaseWhenIdle(options: ReleaseWhenIdleOptions = {}): void {
  const { release = releaseStartupMemory, busyShare = loopShare() } = options;
  let checks = 0;
  const timer = setInterval(() => {
    checks += 1;
    const idle = busyShare() < IDLE_SHARE;
    if (idle || checks === CHECKS_MAX) clearInterval(timer);
    if (idle) release();
  }, CHECK_INTERVAL_MS);
  timer.unref();
}

/**
 * Interval of checks of the heap's growth, milliseconds, and the growth that triggers a collection: bytes, and the share
 * of what the last collection left, because the collection of a large heap is a long pause.
 */
const GROWTH_CHECK_INTERVAL_MS = 60_000;
const GROWTH_BYTES = 8 * 1024 * 1024;
const GROWTH_SHARE = 0.5;

export interface CollectOptions {
  readonly collect?: () => void;
  /** Bytes of the heap in use, including garbage. */
  readonly used?: () => number;
}

/**
 * Collects garbage of the old generation once a minute, if the heap has grown. Under a steady load, V8 would let the heap
 * grow to several times its live size within a quarter of an hour. A collection takes some 40 ms. Returns a function
 * that stops the timer.
 */
export function collectPeriodically(options: CollectOptions = {}): () => void {
  const { collect = () => collectWhole("regular"), used = () => getHeapStatistics().used_heap_size } =
    options;
  let after = used();
  const timer = setInterval(() => {
    const now = used();
    if (now < after + Math.max(GROWTH_BYTES, after * GROWTH_SHARE)) {
      after = Math.min(after, now);
      return;
    }
    collect();
    after = used();
  }, GROWTH_CHECK_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

type CollectionEntry = PerformanceEntry & { readonly detail: NodeGCPerformanceDetail };

/** Interval of compactions, milliseconds. */
const COMPACTION_INTERVAL_MS = 60_000;

/**
 * Has V8 compact the old generation once a minute, with the next collection that it makes anyway, which takes some 20 ms
 * longer. By default it leaves pages alone that are half empty, so that what is cached for minutes, among objects that
 * live shorter, keeps nearly twice its size. In the mode for saving memory a collection moves up to 6 MB out of the
 * emptiest pages. Returns a function that stops the timer.
 */
export function compactPeriodically(): () => void {
  const leaveMode = (): void => {
    setFlagsFromString("--no-memory-saver-mode");
    observer.disconnect();
  };
  const observer = new PerformanceObserver((list) => {
    const kinds = list.getEntries().map((entry) => (entry as CollectionEntry).detail.kind);
    if (kinds.includes(constants.NODE_PERFORMANCE_GC_MAJOR)) leaveMode();
  });
  const timer = setInterval(() => {
    setFlagsFromString("--memory-saver-mode");
    observer.observe({ entryTypes: ["gc"] });
  }, COMPACTION_INTERVAL_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    leaveMode();
  };
}

/** Interval of checks for the end of a burst, milliseconds, and the growth that counts as one, bytes. */
const BURST_CHECK_INTERVAL_MS = 15_000;
const BURST_BYTES = 16 * 1024 * 1024;

export interface BurstOptions {
  /** Releases memory outside of the heap. */
  readonly release: () => Promise<void>;
  readonly log: Pick<Log, "warn">;
  readonly collect?: () => void;
  readonly busyShare?: () => number;
  /** Resident memory of this process, bytes. */
  readonly resident?: () => number;
}

/**
 * Releases memory after a burst of work, when the server is idle again: free pages of the heap, and caches outside of it.
 * The next requests take some milliseconds longer. Nothing is released while the resident memory stays the same. Returns
 * a function that stops the timer.
 */
export function releaseAfterBursts(options: BurstOptions): () => void {
  const { release, log, busyShare = loopShare(), collect = () => collectWhole("last-resort") } = options;
  const { resident = () => process.memoryUsage.rss() } = options;
  let least = resident();
  const timer = setInterval(() => {
    const now = resident();
    least = Math.min(least, now);
    if (busyShare() >= IDLE_SHARE || now < least + BURST_BYTES) return;
    collect();
    release()
      .catch((error: unknown) => log.warn("releasing memory failed", { error }))
      .finally(() => {
        least = resident();
      });
  }, BURST_CHECK_INTERVAL_MS);
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
/** The function of `--expose-gc`. */
type CollectGarbage = (options: { type: "major"; execution: "sync"; flavor: Flavor }) => void;

/** Writes the compile cache first, while the compiled code is still in memory. */
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
