import { expect, it } from "vitest";
import { FiguresBySize, isPage } from "./document-requests.ts";

const asked = {
  name: "list",
  kinds: [{ method: "GET", path: "/" }],
  token: "",
  target: 4,
  peer: "88 ms",
} as const;
const taken = (p50: number) => ({ p50, p99: 9, cpu: 1, drained: undefined, first: undefined });

it("the growth of a time is reported as a multiple of the smaller installation's", () => {
  const sized = new FiguresBySize();
  sized.add(asked, 10, taken(2));
  sized.add({ ...asked, name: "tree" }, 10, taken(5));
  sized.add(asked, 110, taken(3));
  expect(sized.all()[0]).toEqual({
    what: "list, of 10 documents",
    value: 2,
    unit: "ms",
    target: 4,
    peer: "88 ms",
  });
  expect(sized.figures.filter(({ unit }) => unit === "x")).toEqual([
    { what: "list, of 110 documents: that as many times", value: 1.5, unit: "x", target: 1.5 },
  ]);
  expect(() => new FiguresBySize().all()).toThrow("no request was measured");
});

it("isPage checks the number of results and the total", () => {
  expect(isPage(3, 1)({ count: 3, results: [1] })).toBeUndefined();
  expect(() => isPage(3, 2)({ count: 3, results: [1] })).toThrow("1 of 3 documents, not 2 of 3");
  expect(() => isPage(3, 1)({ detail: "Not found." })).toThrow();
});
