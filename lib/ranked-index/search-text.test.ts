import fc from "fast-check";
import { expect, it } from "vitest";
import { joinTexts, searchable, searchTexts, TEXT_MAX, textAt, toNeedle } from "./search-text.ts";

const text = fc.string({ unit: fc.constantFrom("a", "A", "b", "é", "İ", "😀"), maxLength: 8 });

it("finds a needle where it is in a text, and never where it reaches from one into the next", () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), text, (texts, wanted) => {
      fc.pre(wanted !== "");
      const joined = joinTexts(texts.map(searchable));
      const found: number[] = [];
      searchTexts(joined, toNeedle(wanted), (place) => found.push(place));
      const expected = texts.flatMap((one, place) =>
        one.toLowerCase().includes(wanted.toLowerCase()) ? [place] : [],
      );
      expect(found).toEqual(expected);
      expect(texts.map((_, place) => textAt(joined, place))).toEqual(texts.map(searchable));
    }),
  );
});

it("searches the beginning of a text that is too long, without half a character at its end", () => {
  const kept = searchable(`${"a".repeat(TEXT_MAX - 1)}😀`);
  expect(kept).toHaveLength(TEXT_MAX);
  expect(kept.isWellFormed()).toBe(true);
});
