import { expect, it } from "vitest";
import { cachedFilter } from "./filter-cache.ts";

const ROWS = Array.from({ length: 100 }, (_, number) => ({ number }));

it("filters a list once per filter, and again after a change", () => {
  let looks = 0;
  const filtered = cachedFilter(({ number }: { number: number }, { below }: { below?: number }) => {
    looks += 1;
    return below === undefined || number < below;
  });
  expect(filtered(ROWS, { below: 7 })).toHaveLength(7);
  expect(filtered(ROWS, { below: 7 })).toHaveLength(7);
  expect(looks).toBe(100);
  expect(filtered(ROWS, {})).toHaveLength(100);
  expect(filtered(ROWS.slice(5), { below: 7 })).toEqual([{ number: 5 }, { number: 6 }]);
  expect(looks).toBe(295);
});

it("caches a limited number of filters", () => {
  const filtered = cachedFilter(({ number }: { number: number }, { is }: { is: number }) => number === is);
  const first = filtered(ROWS, { is: 0 });
  expect(filtered(ROWS, { is: 0 })).toBe(first);
  for (let is = 1; is < 60; is += 1) expect(filtered(ROWS, { is })).toEqual([{ number: is }]);
  expect(filtered(ROWS, { is: 0 })).not.toBe(first);
  expect(filtered(ROWS, { is: 0 })).toEqual(first);
});
