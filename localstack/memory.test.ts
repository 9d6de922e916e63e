import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { collectPeriodically, compactPeriodically, releaseAfterBursts, releaseWhenIdle } from "./memory.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** What a server does that is busy for these shares of its first seconds, and for the last of them from then on. */
function settlesAfter(...shares: number[]): { readonly second: number | undefined; readonly times: number } {
  let second = 0;
  const settled: number[] = [];
  releaseWhenIdle({
    release: () => settled.push(second),
    busyShare: () => {
      second += 1;
      return shares[Math.min(second, shares.length) - 1]!;
    },
  });
  vi.advanceTimersByTime(300_000);
  return { second: settled[0], times: settled.length };
}

test("releases memory once, in the first idle second", () => {
  expect(settlesAfter(0)).toEqual({ second: 1, times: 1 });
  expect(settlesAfter(0.9, 0.3, 0.021, 0.019, 0)).toEqual({ second: 4, times: 1 });
});

test("releases nothing if the server is busy for the first minute", () => {
  expect(settlesAfter(...Array.from({ length: 59 }, () => 0.5), 0)).toEqual({ second: 60, times: 1 });
  expect(settlesAfter(...Array.from({ length: 60 }, () => 0.5), 0).times).toBe(0);
});

test("measures the load of this process, and shrinks its heap", () => {
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const before = process.memoryUsage().heapTotal;
  let kept: unknown[] | undefined = Array.from({ length: 300_000 }, (_, index) => ({ index }));
  const full = process.memoryUsage().heapTotal;
  expect(full).toBeGreaterThan(before);
  expect(kept).toHaveLength(300_000);
  kept = undefined;
  releaseWhenIdle({ busyShare: () => 0 });
  vi.advanceTimersByTime(1_000);
  expect(process.memoryUsage().heapTotal).toBeLessThan(full);
});

test("collects garbage once a minute if the heap has grown by 8 MB and by half", () => {
  const MB = 1024 * 1024;
  let used = 10 * MB;
  let live = 5 * MB;
  const collected: number[] = [];
  const end = collectPeriodically({
    used: () => used,
    collect: () => {
      collected.push(used / MB);
      used = live;
    },
  });
  const minute = (grown: number): void => {
    used += grown * MB;
    vi.advanceTimersByTime(60_000);
  };
  for (const grown of [2, 2, 3]) minute(grown);
  expect(collected).toEqual([]);
  minute(1);
  minute(7);
  minute(1);
  expect(collected).toEqual([18, 13]);
  used = 2 * MB;
  minute(0);
  live = 100 * MB;
  minute(9);
  expect(collected).toEqual([18, 13, 11]);
  for (const grown of [20, 20, 9]) minute(grown);
  expect(collected).toEqual([18, 13, 11]);
  minute(1);
  expect(collected).toEqual([18, 13, 11, 150]);
  end();
  minute(100);
  expect(collected).toHaveLength(4);
});

test("frees dropped objects within a minute", () => {
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const end = collectPeriodically();
  const dropped = Array.from({ length: 300_000 }, (_, index) => ({ index }));
  dropped.length = 0;
  const full = process.memoryUsage().heapUsed;
  vi.advanceTimersByTime(60_000);
  end();
  expect(process.memoryUsage().heapUsed).toBeLessThan(full);
});

test("compacts half-empty pages once a minute, with the next collection only", async () => {
  const MB = 1024 * 1024;
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as (options: { type: "major" }) => void;
  const megabytesAfterCollection = async (): Promise<number> => {
    const { promise: observed, resolve } = Promise.withResolvers<void>();
    const observer = new PerformanceObserver(() => resolve());
    observer.observe({ entryTypes: ["gc"] });
    collectGarbage({ type: "major" });
    await observed;
    observer.disconnect();
    return getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")!.space_size / MB;
  };
  let objects = Array.from({ length: 400_000 }, (_, index) => ({ index }));
  const keepOneOf = (number: number): void => {
    objects = objects.filter(({ index }) => index % number === 0);
  };
  await megabytesAfterCollection();
  const full = await megabytesAfterCollection();
  keepOneOf(2);
  const end = compactPeriodically();
  expect(full - (await megabytesAfterCollection())).toBeLessThan(1);
  vi.advanceTimersByTime(60_000);
  const compacted = await megabytesAfterCollection();
  expect(full - compacted).toBeGreaterThan(3);
  keepOneOf(4);
  expect(compacted - (await megabytesAfterCollection())).toBeLessThan(1);
  end();
  expect(objects).toHaveLength(100_000);
});

test("releases memory once after each burst, and not while the resident memory stays the same", async () => {
  const MB = 1024 * 1024;
  let resident = 80 * MB;
  let busy = 0;
  const released: string[] = [];
  const end = releaseAfterBursts({
    log: { warn: () => released.push("failed") },
    resident: () => resident,
    busyShare: () => busy,
    collect: () => released.push("heap"),
    release: async () => {
      released.push("rest");
      resident = 85 * MB;
    },
  });
  const look = () => vi.advanceTimersByTimeAsync(15_000);
  await look();
  [resident, busy] = [200 * MB, 0.9];
  await look();
  expect(released).toEqual([]);
  busy = 0;
  for (let times = 0; times < 5; times += 1) await look();
  expect(released).toEqual(["heap", "rest"]);
  resident = 99 * MB;
  await look();
  expect(released).toHaveLength(2);
  resident = 120 * MB;
  await look();
  expect(released).toHaveLength(4);
  end();
  resident = 300 * MB;
  await look();
  expect(released).toHaveLength(4);
});
