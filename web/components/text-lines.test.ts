import { expect, it } from "vitest";
import { textLines } from "./text-lines.ts";

it("splits a text into lines of limited length that contain all of it", () => {
  expect(textLines("a\r\nb\n")).toEqual(["a", "b", ""]);
  const long = `${"x".repeat(399)}😀${"y".repeat(10_000_000)}`;
  const lines = textLines(long);
  expect(lines.join("")).toBe(long);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(401);
  expect(lines.every((line) => line.isWellFormed())).toBe(true);
});

it("makes control and direction characters visible", () => {
  expect(textLines("\u001b[31mred\u202eevil\t.")).toEqual(["␛[31mred\\u202eevil\t."]);
});
