import { expect, it } from "vitest";
import { formatPositions, parsePositions } from "./item-positions.ts";

it("writes positions as ranges and reads them", () => {
  expect(formatPositions([])).toBe("");
  expect(formatPositions([3, 7, 8, 9])).toBe("3,7-9");
  expect(parsePositions("3,7-9")).toEqual([
    [3, 3],
    [7, 9],
  ]);
  expect(parsePositions("")).toEqual([]);
});

it("leaves out whole ranges of a text that would be too long", () => {
  const text = formatPositions(Array.from({ length: 2_000 }, (_, index) => 1_000_000 + index * 2));
  expect(text.length).toBeLessThanOrEqual(4_000);
  expect(parsePositions(text).every(([from, to]) => from === to && from >= 1_000_000)).toBe(true);
});
