import { expect, it } from "vitest";
import { moved, positionOf, ticksOf, zoomed } from "./timeline-scale.ts";

const ALL = { from: 1_000, to: 11_000 };

it("zooms around a position and stays within all of the time", () => {
  expect(zoomed(ALL, ALL, 0.5, 0)).toEqual({ from: 1_000, to: 6_000 });
  expect(zoomed(ALL, ALL, 0.5, 1)).toEqual({ from: 6_000, to: 11_000 });
  expect(zoomed({ from: 1_000, to: 6_000 }, ALL, 4, 0.5)).toEqual(ALL);
  expect(zoomed(ALL, ALL, 1e-9, 0.5)).toEqual({ from: 5_995, to: 6_005 });
});

it("moves, not beyond the ends", () => {
  expect(moved({ from: 1_000, to: 6_000 }, ALL, 0.2)).toEqual({ from: 2_000, to: 7_000 });
  expect(moved({ from: 1_000, to: 6_000 }, ALL, -1)).toEqual({ from: 1_000, to: 6_000 });
  expect(moved({ from: 1_000, to: 6_000 }, ALL, 9)).toEqual({ from: 6_000, to: 11_000 });
});

it("places times and marks", () => {
  expect(positionOf(6_000, ALL)).toBe(50);
  expect(ticksOf(ALL, 1_000, 5)).toEqual([0, 2_000, 4_000, 6_000, 8_000, 10_000]);
  expect(ticksOf({ from: 0, to: 7 }, 0, 7)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(ticksOf({ from: 0, to: 3_600_000 * 5 }, 0, 5)).toHaveLength(6);
});
