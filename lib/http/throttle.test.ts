import { describe, expect, it } from "vitest";
import { ApiError } from "../errors.ts";
import type { ThrottleRate } from "../settings/throttle-rates.ts";
import { testClock } from "../testing/test-deps.ts";
import { memoryThrottle } from "./throttle.ts";

const MINUTE: ThrottleRate = { count: 3, periodMs: 60_000 };
const HOUR: ThrottleRate = { count: 5, periodMs: 3_600_000 };
function throttle(rates: Readonly<Record<string, readonly ThrottleRate[]>>, timesMax?: number) {
  const clock = testClock();
  const exemption = { scope: "document", header: "x-provider-key", key: "the key of the provider" };
  const options = { clock, rates, exemption };
  const own = memoryThrottle(timesMax === undefined ? options : { ...options, timesMax });
  /** Seconds to wait; 0 for one that passed. */
  const ask = (caller = "a", scope = "document", headers: Record<string, string> = {}): number => {
    try {
      own.pass(scope, caller, headers);
      return 0;
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
      expect((error as ApiError).code).toBe("too_many_requests");
      return (error as ApiError).retryAfterSeconds ?? -1;
    }
  };
  return { clock, ask };
}

describe("a throttle", () => {
  it("allows the number of requests of the rate, and another one as each leaves the window", () => {
    const { clock, ask } = throttle({ document: [MINUTE] });
    expect(ask()).toBe(0);
    clock.advance(10_000);
    expect([ask(), ask(), ask()]).toEqual([0, 0, 50]);
    clock.advance(49_001);
    expect(ask()).toBe(1);
    clock.advance(999);
    expect([ask(), ask()]).toEqual([0, 10]);
  });

  it("applies a rate of any size without iterating over the requests", () => {
    const { ask } = throttle({ document: [{ count: 10 ** 17, periodMs: 60_000 }] });
    for (let each = 0; each < 30_000; each += 1) expect(ask()).toBe(0);
  }, 2_000);

  it("does not count refused requests", () => {
    const { clock, ask } = throttle({ document: [MINUTE] });
    for (let each = 0; each < 50; each += 1) ask();
    clock.advance(60_000);
    expect([ask(), ask(), ask(), ask()]).toEqual([0, 0, 0, 60]);
  });

  it("counts each caller and each scope separately", () => {
    const { ask } = throttle({ document: [MINUTE], config: [MINUTE] });
    expect([ask("a"), ask("a"), ask("a"), ask("a")]).toEqual([0, 0, 0, 60]);
    expect([ask("b"), ask("a", "config"), ask("a", "invitation")]).toEqual([0, 0, 0]);
  });

  it("applies every rate of a scope", () => {
    const { clock, ask } = throttle({ user_list: [MINUTE, HOUR] });
    const list = () => ask("a", "user_list");
    expect([list(), list(), list(), list()]).toEqual([0, 0, 0, 60]);
    clock.advance(60_000);
    expect([list(), list(), list()]).toEqual([0, 0, 3540]);
  });

  it("exempts requests with the key of its exemption, in its scope only", () => {
    const { ask } = throttle({ document: [MINUTE], config: [MINUTE] });
    const key = (value: string) => ({ "x-provider-key": value });
    for (let each = 0; each < 10; each += 1)
      expect(ask("a", "document", key("the key of the provider"))).toBe(0);
    const wrong = key("the key of the providers");
    expect([1, 2, 3, 4].map(() => ask("a", "document", wrong))).toEqual([0, 0, 0, 60]);
    const right = key("the key of the provider");
    expect([1, 2, 3, 4].map(() => ask("a", "config", right))).toEqual([0, 0, 0, 60]);
  });

  it("drops the least recent caller if there are too many", () => {
    const { ask } = throttle({ document: [{ count: 1, periodMs: 60_000 }] }, 3);
    expect(["a", "b", "c"].map((caller) => ask(caller))).toEqual([0, 0, 0]);
    expect(ask("a")).toBe(60);
    expect(ask("d")).toBe(0);
    expect([ask("a"), ask("b")]).toEqual([60, 0]);
  });
});
