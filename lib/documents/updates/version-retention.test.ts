import { describe, expect, it } from "vitest";
import { selectSuperseded } from "./version-retention.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.parse("2026-03-02T10:05:00Z");

const aged = (...ages: number[]) =>
  ages
    .toSorted((one, other) => other - one)
    .map((age) => ({ sk: String(age), last_modified: new Date(NOW - age).toISOString() }));
const goes = (...ages: number[]): number[] => selectSuperseded(aged(...ages), NOW).map(Number);

describe("a version is removed", () => {
  it.each([
    ["never within the hour", [59 * MINUTE, 58 * MINUTE, 1], []],
    ["for a newer one of the same ten minutes", [70 * MINUTE, 66 * MINUTE, 64 * MINUTE], [70 * MINUTE]],
    [
      "for a newer one of the same day, after a day",
      [30 * HOUR, 29 * HOUR, 28 * HOUR],
      [30 * HOUR, 29 * HOUR],
    ],
    ["not for one of another day", [2 * DAY, 3 * DAY, 4 * DAY], []],
    ["for a newer one of the same week, after a month", [40 * DAY, 39 * DAY, 38 * DAY, 20 * DAY], [39 * DAY]],
    ["never as the last of them", [400 * DAY], []],
    ["not where there is none", [], []],
  ])("%s", (_, ages, gone) => {
    expect(goes(...ages)).toEqual(gone);
  });
});
