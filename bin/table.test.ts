import { describe, expect, test } from "vitest";
import { type Column, columnsOf, duration, shortened, table } from "./table.ts";

interface Row {
  readonly id: string;
  readonly text: string;
  readonly count: number;
}

const COLUMNS: readonly Column<Row>[] = [
  { head: "ID", text: ({ id }) => id },
  { head: "TEXT", text: ({ text }) => text, cut: true },
  { head: "COUNT", text: ({ count }) => String(count), right: true },
];
const rows: readonly Row[] = [
  { id: "a", text: "short", count: 1 },
  { id: "bcd", text: "日本語のとても長い文字列 and more", count: 23_456 },
];

describe("a table", () => {
  test("is as wide as what it holds where nothing cuts lines", () => {
    expect(table(COLUMNS, rows, undefined).split("\n")).toEqual([
      "ID   TEXT                               COUNT",
      "a    short                                  1",
      "bcd  日本語のとても長い文字列 and more  23456",
      "",
    ]);
  });

  test.each([120, 45, 40, 30, 24, 20, 12, 9])("is at most %i columns wide", (width) => {
    const lines = table(COLUMNS, rows, width).split("\n");
    expect(Math.max(...lines.map(columnsOf))).toBeLessThanOrEqual(width);
    expect(lines).toHaveLength(4);
    if (width >= 24) expect(lines[2]).toMatch(/^bcd .* 23456$/);
  });

  test("holds nothing that a terminal acts on, and a line for each row", () => {
    const hostile = [{ id: "\u001b]0;title\u0007", text: "two\nlines\u001b[2J\u202e", count: 0 }];
    const text = table(COLUMNS, hostile, 80);
    expect(text).not.toMatch(/[^\P{C}\n]/u);
    expect(text.split("\n")).toHaveLength(3);
  });

  test("has no colours where nobody watches", () => {
    const coloured = [{ ...COLUMNS[0]!, colour: () => "red" as const }];
    expect(table(coloured, rows, 80)).toBe("ID\na\nbcd\n");
  });
});

test("a text is cut by the columns that it takes", () => {
  expect(["ab", "日本", "e\u0301", "👍🏽"].map(columnsOf)).toEqual([2, 4, 1, 2]);
  expect([shortened("abcdef", 6), shortened("abcdef", 5), shortened("日本語", 5)]).toEqual([
    "abcdef",
    "abcd…",
    "日本…",
  ]);
});

test("times are as short as they are clear", () => {
  expect([0, 999, 1_000, 59_999, 60_000, 125_000, 3_600_000, 7_620_000].map(duration)).toEqual([
    ...["0ms", "999ms", "1.0s", "59.9s", "1m00s", "2m05s", "1h00m", "2h07m"],
  ]);
});
