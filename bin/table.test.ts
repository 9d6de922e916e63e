import { describe, expect, test } from "vitest";
import { type Column, displayWidth, formatDuration, table, truncate } from "./table.ts";

interface Row {
  readonly id: string;
  readonly text: string;
  readonly count: number;
}

const COLUMNS: readonly Column<Row>[] = [
  { header: "ID", value: ({ id }) => id },
  { header: "TEXT", value: ({ text }) => text, canShrink: true },
  { header: "COUNT", value: ({ count }) => String(count), align: "right" },
];
const rows: readonly Row[] = [
  { id: "a", text: "short", count: 1 },
  { id: "bcd", text: "日本語のとても長い文字列 and more", count: 23_456 },
];

describe("a table", () => {
  test("is as wide as its content if lines are not limited", () => {
    expect(table(COLUMNS, rows, undefined).split("\n")).toEqual([
      "ID   TEXT                               COUNT",
      "a    short                                  1",
      "bcd  日本語のとても長い文字列 and more  23456",
      "",
    ]);
  });

  test.each([120, 45, 40, 30, 24, 20, 12, 9])("is at most %i columns wide", (width) => {
    const lines = table(COLUMNS, rows, width).split("\n");
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
    expect(lines).toHaveLength(4);
    if (width >= 24) expect(lines[2]).toMatch(/^bcd .* 23456$/);
  });

  test("contains no control characters, and one line for each row", () => {
    const hostile = [{ id: "\u001b]0;title\u0007", text: "two\nlines\u001b[2J\u202e", count: 0 }];
    const text = table(COLUMNS, hostile, 80);
    expect(text).not.toMatch(/[^\P{C}\n]/u);
    expect(text.split("\n")).toHaveLength(3);
  });

  test("has no colors if standard output is not a terminal", () => {
    const colored = [{ ...COLUMNS[0]!, color: () => "red" as const }];
    expect(table(colored, rows, 80)).toBe("ID\na\nbcd\n");
  });
});

test("texts are truncated by their display width", () => {
  expect(["ab", "日本", "e\u0301", "👍🏽"].map(displayWidth)).toEqual([2, 4, 1, 2]);
  expect([truncate("abcdef", 6), truncate("abcdef", 5), truncate("日本語", 5)]).toEqual([
    "abcdef",
    "abcd…",
    "日本…",
  ]);
});

test("durations are formatted with their two largest units", () => {
  expect([0, 999, 1_000, 59_999, 60_000, 125_000, 3_600_000, 7_620_000].map(formatDuration)).toEqual([
    "0ms",
    "999ms",
    "1.0s",
    "59.9s",
    "1m00s",
    "2m05s",
    "1h00m",
    "2h07m",
  ]);
});
