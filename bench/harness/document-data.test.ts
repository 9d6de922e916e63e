import { expect, it } from "vitest";
import { deepestOf, documentData, idOf, reachedByOwner } from "./document-data.ts";

it("10,000 documents consist of trees, a root with many children, a subtree to move, and flat roots", () => {
  const data = documentData(10_000);
  expect(data).toMatchObject({ users: 200, trees: 60, levels: 10, inTree: 100, children: 1_000 });
  expect(data).toMatchObject({ hub: 6_000, moved: 7_001, inMoved: 1_000, flat: 8_001, wideRows: 1_999 });
  expect(data.flat + data.deepFlat).toBe(10_000);
});

it("110,000 documents have the same structure and more flat roots", () => {
  const [some, all] = [documentData(10_000), documentData(110_000)];
  expect(all).toEqual({ ...some, users: 1_000, wideRows: 10_000 });
});

it("the owner of twenty documents can read their descendants, each counted once", () => {
  for (const count of [600, 10_000, 110_000]) {
    const data = documentData(count);
    expect(new Set(data.owned).size).toBe(20);
    expect(Math.max(...data.owned)).toBeLessThan(count);
    const numbers = reachedByOwner(data).flatMap(({ from, count: some }) =>
      Array.from({ length: some }, (_, at) => from + at),
    );
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(data.owned.every((number) => numbers.includes(number))).toBe(true);
    expect(numbers).toContain(deepestOf(data, 0));
  }
});

it("a document has a unique id that is the same in every run", () => {
  expect(idOf(7)).toBe(idOf(7));
  expect(new Set([0, 1, 10, 11].map(idOf)).size).toBe(4);
});
