import { expect, it } from "vitest";
import { findRows, type TextPart, TextRows } from "./text-rows.ts";

/** Parts of an ASCII text. */
const part = (whole: string, from: number, to: number): TextPart => ({
  text: whole.slice(from, to),
  offset: from,
  next_offset: to,
  size: whole.length,
});
const textsOf = ({ rows }: TextRows): string[] => rows.map(({ text }) => text);

it("shows lines that arrive in parts, also within a line", () => {
  const text = "one\ntwo\nthree";
  let rows = TextRows.of(part(text, 0, 5));
  expect(textsOf(rows)).toEqual(["one", "t"]);
  expect(rows.hasMore).toBe(true);
  rows = rows.append(part(text, 5, 10));
  expect(textsOf(rows)).toEqual(["one", "two", "th"]);
  rows = rows.append(part(text, 10, 13));
  expect(textsOf(rows)).toEqual(["one", "two", "three"]);
  expect(rows.hasMore).toBe(false);
  expect(rows.append(part(text, 4, 8))).toBe(rows);
});

it("adds earlier parts before, from a whole line on", () => {
  const text = "first\nsecond\nthird\n";
  const rows = TextRows.of(part(text, 13, 19)).prepend(part(text, 3, 13));
  expect(textsOf(rows)).toEqual(["second", "third"]);
  expect(rows.offset).toBe(6);
  expect(textsOf(rows.prepend(part(text, 0, 6)))).toEqual(["first", "second", "third"]);
});

it("cuts a line of ten megabytes into rows, with its colors", () => {
  const red = `${String.fromCharCode(27)}[31m`;
  const line = `${red}${"ab".repeat(500)}`.repeat(10_000);
  const rows = TextRows.of(part(line, 0, line.length));
  expect(rows.rows).toHaveLength(10_000);
  expect(rows.rows[1]).toMatchObject({ isContinued: true, text: "ab".repeat(500) });
  expect(rows.rows[9_999]?.spans?.[0]).toEqual({ text: "ab".repeat(500), style: { color: "red" } });
});

it("drops the beginning of what would fill the memory", () => {
  const text = `${"x".repeat(999)}\n`.repeat(1_000);
  let rows = TextRows.of({ text, offset: 0, next_offset: text.length, size: 1e9 });
  for (let at = 1; at < 70; at += 1)
    rows = rows.append({ text, offset: at * text.length, next_offset: (at + 1) * text.length, size: 1e9 });
  expect(rows.nextOffset).toBe(70 * text.length);
  expect(rows.rows.length).toBeLessThan(64_000);
  expect(rows.offset).toBeGreaterThan(0);
});

it("finds rows by a text, ignoring case", () => {
  const { rows } = TextRows.of(part("Error: a\nfine\nERROR: b", 0, 22));
  expect(findRows(rows, "error")).toEqual([0, 2]);
  expect(findRows(rows, "")).toEqual([]);
});
