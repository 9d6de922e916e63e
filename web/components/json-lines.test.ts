import { expect, it } from "vitest";
import { type JsonLine, jsonLines } from "./json-lines.ts";

const NONE: ReadonlySet<string> = new Set();
const shown = (lines: readonly JsonLine[]): string =>
  lines
    .map(({ depth, key, text }) => `${"  ".repeat(depth)}${key === undefined ? "" : `${key}: `}${text}`)
    .join("\n");

it("shows JSON as JSON.stringify does while everything is open", () => {
  const value = { a: [1, "two", null, true, {}], "b c": { d: [] } };
  expect(shown(jsonLines(value, NONE))).toBe(JSON.stringify(value, undefined, 2));
});

it("closes what is deep or long at first, and opens it when toggled", () => {
  const deep = { a: { b: { c: 1 } } };
  const closed = jsonLines(deep, NONE);
  const line = closed.find(({ isOpen }) => isOpen === false);
  expect(line).toMatchObject({ key: '"b"', text: "{…}", hidden: 1 });
  expect(shown(jsonLines(deep, new Set([line?.id ?? ""])))).toBe(JSON.stringify(deep, undefined, 2));
  expect(
    jsonLines(
      Array.from({ length: 1_000 }, (_, index) => index),
      NONE,
    ),
  ).toHaveLength(1);
});

it("shows a long text in lines of limited length that contain all of it", () => {
  const text = `${"x".repeat(159)}😀${"y".repeat(10_000_000)}`;
  expect(jsonLines({ text }, NONE)).toHaveLength(3);
  const lines = jsonLines({ text }, new Set(["$.0"])).filter(({ depth }) => depth === 2);
  expect(lines.map((line) => line.text).join("")).toBe(JSON.stringify(text));
  expect(Math.max(...lines.map((line) => line.text.length))).toBeLessThanOrEqual(161);
  expect(lines.every((line) => line.text.isWellFormed())).toBe(true);
});

it("makes control and direction characters visible", () => {
  const [line] = jsonLines("\u001b[31mred\u202eevil\u0085", NONE);
  expect(line?.text).toBe('"\\u001b[31mred\\u202eevil\\u0085"');
});
