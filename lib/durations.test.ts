import { describe, expect, it } from "vitest";
import { parseDuration } from "./durations.ts";

describe("parseDuration", () => {
  it.each([
    [30, 30_000],
    ["30", 30_000],
    [0, 0],
    [0.5, 500],
    ["500ms", 500],
    ["30s", 30_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    [" 10s ", 10_000],
    ["1m500ms", 60_500],
  ])("reads %j as %d ms", (value, milliseconds) => {
    expect(parseDuration(value)).toBe(milliseconds);
  });

  it.each([
    "",
    "s",
    "-5s",
    "5 minutes",
    "1h 30m",
    "1e3",
    "0x10",
    "{{timeout}}",
    "1w",
    "5S",
    "9".repeat(40),
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.MAX_SAFE_INTEGER,
  ])("refuses %j", (value) => {
    expect(parseDuration(value)).toBeUndefined();
  });
});
