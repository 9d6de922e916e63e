import { expect, it } from "vitest";
import { parseLine } from "./ansi.ts";

const ESC = String.fromCharCode(27);

it("leaves plain text as it is", () => {
  expect(parseLine("a < b && <script>alert(1)</script>")).toEqual({
    text: "a < b && <script>alert(1)</script>",
    spans: undefined,
    style: {},
  });
});

it("reads colors and styles, and carries them to the next line", () => {
  const { text, spans, style } = parseLine(`${ESC}[1;31merror${ESC}[0m: ${ESC}[38;5;2mgreen`);
  expect(text).toBe("error: green");
  expect(spans).toEqual([
    { text: "error", style: { isBold: true, color: "red" } },
    { text: ": ", style: {} },
    { text: "green", style: { color: "green" } },
  ]);
  expect(parseLine("still green", style).spans).toEqual([{ text: "still green", style: { color: "green" } }]);
});

it("maps colors of 24 bits to the nearest of eight, and resets single styles", () => {
  const { spans } = parseLine(`${ESC}[38;2;250;20;20mred${ESC}[39m plain${ESC}[4;7mx${ESC}[24;27my`);
  expect(spans?.map(({ style }) => style)).toEqual([
    { color: "red" },
    {},
    { isUnderlined: true, isInverse: true },
    {},
  ]);
});

it.each([
  ["moves of the cursor", `a${ESC}[2Jb${ESC}[10;10Hc`, "abc"],
  ["titles and links", `${ESC}]0;title\u0007a${ESC}]8;;http://x${ESC}\\b`, "ab"],
  ["an unfinished sequence", `a${ESC}[`, "a["],
  ["bells and nulls", "a\u0007\u0000b", "ab"],
  ["overwritten progress", "10 %\r50 %\r100 %\r", "100 %"],
])("removes %s", (_name, line, shown) => {
  expect(parseLine(line).text).toBe(shown);
});
