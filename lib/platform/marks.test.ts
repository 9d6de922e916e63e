import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { LIMITS, type LimitName } from "./limits.ts";
import {
  forgetMarks,
  isTooLong,
  isTooLongInJson,
  marksChanges,
  note,
  noteAtMost,
  noteHandler,
  noteMarks,
  ROUGH_SHARE,
  readMarks,
} from "./marks.ts";

const names = Object.keys(LIMITS) as LimitName[];
const anyName = fc.constantFrom(...names);

describe("marks", () => {
  beforeEach(forgetMarks);

  it("are the largest of the values noted, each limit for itself", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyName, fc.nat())), (noted) => {
        forgetMarks();
        for (const [name, value] of noted) note(name, value);
        const expected: Partial<Record<LimitName, number>> = {};
        for (const [name, value] of noted) expected[name] = Math.max(value, expected[name] ?? 0);
        expect(readMarks().limits).toEqual(expected);
      }),
    );
  });

  it("keep the longest time of each function", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.double({ min: 0, noNaN: true }))), (noted) => {
        forgetMarks();
        for (const [name, ms] of noted) noteHandler(name, ms);
        const times = Map.groupBy(noted, ([name]) => name);
        const expected = [...times].map(([name, all]) => [name, Math.max(...all.map(([, ms]) => ms))]);
        expect(new Map(Object.entries(readMarks().handlers))).toEqual(
          new Map(expected as [string, number][]),
        );
      }),
    );
  });

  it.each([
    ["text", isTooLong, (text: string) => Buffer.byteLength(text), 3],
    ["text in JSON", isTooLongInJson, (text: string) => Buffer.byteLength(JSON.stringify(text)), 8],
  ] as const)("of %s never fall short, and are exact where they matter", (_, isLong, bytesOf, factor) => {
    const limit = LIMITS.sortKeyBytes.value;
    const text = fc.oneof(
      ...['a/é\u2028🙂"\\\u007f', 'a/é"\\\n\b\u0001\u000b\ud800'].map((units) =>
        fc.string({ unit: fc.constantFrom(...units), maxLength: 1500 }),
      ),
    );
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (texts) => {
        forgetMarks();
        for (const one of texts) expect(isLong("sortKeyBytes", one)).toBe(bytesOf(one) > limit);
        const most = Math.max(...texts.map(bytesOf));
        const mark = readMarks().limits.sortKeyBytes ?? 0;
        if (most > limit * ROUGH_SHARE) expect(mark).toBe(most);
        else {
          expect(mark).toBeGreaterThanOrEqual(most);
          expect(mark).toBeLessThanOrEqual(Math.min(most * factor, limit * ROUGH_SHARE));
        }
      }),
    );
  });

  it("take a bound for a value only where it is no new mark or of a small size", () => {
    const rough = LIMITS.itemBytes.value * ROUGH_SHARE;
    expect([noteAtMost("itemBytes", rough), noteAtMost("itemBytes", rough + 1)]).toEqual([true, false]);
    note("itemBytes", rough * 3);
    expect([noteAtMost("itemBytes", rough * 3), noteAtMost("itemBytes", rough * 3 + 1)]).toEqual([
      true,
      false,
    ]);
    expect(readMarks().limits).toEqual({ itemBytes: rough * 3 });
  });

  it("go on from what was seen before, and tell when they have changed", () => {
    note("itemBytes", 10);
    noteHandler("A", 5);
    const changes = marksChanges();
    noteMarks({ limits: { itemBytes: 9 }, handlers: { A: 4 } });
    expect(marksChanges()).toBe(changes);
    noteMarks({ limits: { itemBytes: 11, itemDepth: 2 }, handlers: { A: 4, B: 1 } });
    expect(marksChanges()).toBeGreaterThan(changes);
    expect(readMarks()).toEqual({ limits: { itemBytes: 11, itemDepth: 2 }, handlers: { A: 5, B: 1 } });
  });
});
