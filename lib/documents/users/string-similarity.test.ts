import { describe, expect, it } from "vitest";
import { editDistance, similarity, trigrams } from "./string-similarity.ts";

/** The textbook algorithm with the full table. */
function plainDistance(one: string, other: string): number {
  const table = Array.from({ length: one.length + 1 }, (_, row) =>
    Array.from({ length: other.length + 1 }, (_, column) => (row === 0 ? column : column === 0 ? row : 0)),
  );
  for (let row = 1; row <= one.length; row += 1)
    for (let column = 1; column <= other.length; column += 1)
      table[row]![column] = Math.min(
        table[row - 1]![column]! + 1,
        table[row]![column - 1]! + 1,
        table[row - 1]![column - 1]! + (one[row - 1] === other[column - 1] ? 0 : 1),
      );
  return table[one.length]![other.length]!;
}

describe("the edit distance of two texts", () => {
  it("equals the textbook distance, up to three", () => {
    let seed = 7;
    const next = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    const word = (): string => Array.from({ length: next(9) }, () => "abc"[next(3)]).join("");
    const seen = new Set<number | undefined>();
    for (let time = 0; time < 5_000; time += 1) {
      const [one, other] = [word(), word()];
      const plain = plainDistance(one, other);
      const distance = editDistance(one, other, 3);
      expect([one, other, distance]).toEqual([one, other, plain <= 3 ? plain : undefined]);
      seen.add(distance);
    }
    expect(seen).toEqual(new Set([0, 1, 2, 3, undefined]));
  });
});

describe("the similarity of two texts", () => {
  const like = (one: string, other: string): number => similarity(trigrams(one), trigrams(other));

  it("is the share of common trigrams", () => {
    expect(like("word", "two words")).toBeCloseTo(4 / 11);
    expect(like("ada", "ada")).toBe(1);
    expect(like("ada", "zoe")).toBe(0);
    expect(like("", "")).toBe(0);
    expect(like("ана", "ана")).toBe(1);
  });
});
