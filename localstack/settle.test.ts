import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { settleWhenIdle } from "./settle.ts";

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
  settleWhenIdle({
    settle: () => settled.push(second),
    busyShare: () => {
      second += 1;
      return shares[Math.min(second, shares.length) - 1]!;
    },
  });
  vi.advanceTimersByTime(300_000);
  return { second: settled[0], times: settled.length };
}

test("settles once, in the first second with nothing to do", () => {
  expect(settlesAfter(0)).toEqual({ second: 1, times: 1 });
  expect(settlesAfter(0.9, 0.3, 0.021, 0.019, 0)).toEqual({ second: 4, times: 1 });
});

test("leaves a server alone that was busy for the first minute", () => {
  expect(settlesAfter(...Array.from({ length: 59 }, () => 0.5), 0)).toEqual({ second: 60, times: 1 });
  expect(settlesAfter(...Array.from({ length: 60 }, () => 0.5), 0).times).toBe(0);
});

test("looks at what this process really does, and makes its heap smaller", () => {
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const before = process.memoryUsage().heapTotal;
  let kept: unknown[] | undefined = Array.from({ length: 300_000 }, (_, index) => ({ index }));
  const full = process.memoryUsage().heapTotal;
  expect(full).toBeGreaterThan(before);
  expect(kept).toHaveLength(300_000);
  kept = undefined;
  settleWhenIdle({ busyShare: () => 0 });
  vi.advanceTimersByTime(1_000);
  expect(process.memoryUsage().heapTotal).toBeLessThan(full);
});
