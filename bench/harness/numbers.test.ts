import fc from "fast-check";
import { expect, it } from "vitest";
import { median, percentile, roundNumber, roundNumbers, slope } from "./numbers.ts";

it("a percentile is one of the values, and the given share of values does not exceed it", () => {
  const values = fc.array(fc.double({ noNaN: true }), { minLength: 1 });
  fc.assert(
    fc.property(values, fc.double({ min: 0.01, max: 1, noNaN: true }), (all, part) => {
      const found = percentile(all, part);
      expect(all.some((value) => value === found)).toBe(true);
      expect(all.filter((value) => value <= found).length).toBeGreaterThanOrEqual(all.length * part - 1e-9);
      expect(all.filter((value) => value < found).length).toBeLessThan(all.length * part);
    }),
  );
  expect(percentile([], 0.5)).toBeNaN();
  expect(median([3, 1, 2])).toBe(2);
});

it("rounds nested numbers to four digits and keeps integers", () => {
  expect(roundNumber(0.123456)).toBe(0.1235);
  expect(roundNumber(123_456)).toBe(123_456);
  expect(roundNumbers({ a: [1.23456, { b: 2.34567 }], c: "1.23456" })).toEqual({
    a: [1.235, { b: 2.346 }],
    c: "1.23456",
  });
});

it("returns the slope of a line", () => {
  expect(slope([1, 2, 3, 4].map((x) => [x, 5 - 2 * x] as const))).toBeCloseTo(-2);
  expect(slope([[1, 7]])).toBe(0);
});
