import fc from "fast-check";
import { expect, it } from "vitest";
import { joinTexts, searchable, searchTexts, TEXT_MAX, textAt, toNeedle } from "./search-text.ts";

const text = fc.string({ unit: fc.constantFrom("a", "A", "b", "é", "İ", "😀"), maxLength: 8 });

it("finds a needle inside a text, and never across two texts", () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), text, (texts, wanted) => {
      fc.pre(wanted !== "");
      const joined = joinTexts(texts.map(searchable));
      const found: number[] = [];
      searchTexts(joined, { name: wanted, needle: toNeedle(wanted) }, (place) => found.push(place));
      const expected = texts.flatMap((one, place) =>
        one.toLowerCase().includes(wanted.toLowerCase()) ? [place] : [],
      );
      expect(found).toEqual(expected);
      expect(texts.map((_, place) => textAt(joined, place))).toEqual(texts.map(searchable));
    }),
  );
});

it("searches the beginning of a text that is too long, without splitting a surrogate pair", () => {
  const kept = searchable(`${"a".repeat(TEXT_MAX - 1)}😀`);
  expect(kept).toHaveLength(TEXT_MAX);
  expect(kept.isWellFormed()).toBe(true);
});
