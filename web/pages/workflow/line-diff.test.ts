import { expect, it } from "vitest";
import { lineDiff } from "./line-diff.ts";

const text = (lines: readonly (string | number)[]): string => `${lines.join("\n")}\n`;
const NUMBERS = Array.from({ length: 20 }, (_, index) => index);

it("shows changed lines with those around them, and counts the others", () => {
  const changed = NUMBERS.map((number) => (number === 10 ? "ten" : number));
  expect(lineDiff(text(NUMBERS), text(changed))).toEqual([
    { hidden: 7 },
    {
      lines: [
        { kind: "same", text: "7" },
        { kind: "same", text: "8" },
        { kind: "same", text: "9" },
        { kind: "removed", text: "10" },
        { kind: "added", text: "ten" },
        { kind: "same", text: "11" },
        { kind: "same", text: "12" },
        { kind: "same", text: "13" },
      ],
    },
    { hidden: 6 },
  ]);
});

it("hides all of two equal texts", () => {
  expect(lineDiff(text(NUMBERS), text(NUMBERS))).toEqual([{ hidden: 20 }]);
});
