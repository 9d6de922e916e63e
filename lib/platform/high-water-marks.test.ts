import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  exceedsLimit,
  exceedsLimitAsJson,
  mergeHighWaterMarks,
  readHighWaterMarks,
  recordDuration,
  recordedChanges,
  recordValue,
  startRecording,
  stopRecording,
} from "./high-water-marks.ts";
import { LIMITS, type LimitName } from "./limits.ts";

const names = Object.keys(LIMITS) as LimitName[];
const anyName = fc.constantFrom(...names);

describe("high-water marks", () => {
  beforeEach(startRecording);
  afterEach(stopRecording);

  it("are the largest recorded value of each limit", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyName, fc.nat())), (noted) => {
        startRecording();
        for (const [name, value] of noted) recordValue(name, value);
        const expected: Partial<Record<LimitName, number>> = {};
        for (const [name, value] of noted) expected[name] = Math.max(value, expected[name] ?? 0);
        expect(readHighWaterMarks().limits).toEqual(expected);
      }),
    );
  });

  it("keep the longest duration of each function", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.double({ min: 0, noNaN: true }))), (noted) => {
        startRecording();
        for (const [name, ms] of noted) recordDuration(name, ms);
        const times = Map.groupBy(noted, ([name]) => name);
        const expected = [...times].map(([name, all]) => [name, Math.max(...all.map(([, ms]) => ms))]);
        expect(new Map(Object.entries(readHighWaterMarks().handlers))).toEqual(
          new Map(expected as [string, number][]),
        );
      }),
    );
  });

  it.each([
    ["text", exceedsLimit, (text: string) => Buffer.byteLength(text)],
    ["text in JSON", exceedsLimitAsJson, (text: string) => Buffer.byteLength(JSON.stringify(text))],
  ] as const)(
    "of %s are exact, and its limit is checked with and without a recording",
    (_, exceeds, bytesOf) => {
      const limit = LIMITS.sortKeyBytes.value;
      const text = fc.oneof(
        ...['a/é\u2028🙂"\\\u007f', 'a/é"\\\n\b\u0001\u000b\ud800'].map((units) =>
          fc.string({ unit: fc.constantFrom(...units), maxLength: 1500 }),
        ),
      );
      fc.assert(
        fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (texts) => {
          stopRecording();
          for (const one of texts) expect(exceeds("sortKeyBytes", one)).toBe(bytesOf(one) > limit);
          startRecording();
          for (const one of texts) expect(exceeds("sortKeyBytes", one)).toBe(bytesOf(one) > limit);
          expect(readHighWaterMarks().limits.sortKeyBytes).toBe(Math.max(...texts.map(bytesOf)));
        }),
      );
    },
  );

  it("are not recorded unless recording was started", () => {
    stopRecording();
    recordValue("itemBytes", 10);
    recordDuration("A", 5);
    expect(readHighWaterMarks()).toEqual({ limits: {}, handlers: {} });
  });

  it("include those of another process, and count changes", () => {
    recordValue("itemBytes", 10);
    recordDuration("A", 5);
    const changes = recordedChanges();
    mergeHighWaterMarks({ limits: { itemBytes: 9 }, handlers: { A: 4 } });
    expect(recordedChanges()).toBe(changes);
    mergeHighWaterMarks({ limits: { itemBytes: 11, itemDepth: 2 }, handlers: { A: 4, B: 1 } });
    expect(recordedChanges()).toBeGreaterThan(changes);
    expect(readHighWaterMarks()).toEqual({
      limits: { itemBytes: 11, itemDepth: 2 },
      handlers: { A: 5, B: 1 },
    });
  });
});
