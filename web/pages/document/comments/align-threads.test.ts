import { expect, it } from "vitest";
import { alignThreads } from "./align-threads.ts";

const at = (wanted: number | undefined, height = 100) => ({ wanted, height });

it("threads are beside their text, below each other where they would overlap; those without text come last", () => {
  expect(alignThreads([at(0), at(300), at(340), at(undefined)], -1, 10)).toEqual([0, 300, 410, 520]);
  expect(alignThreads([at(-50)], -1, 10)).toEqual([0]);
  expect(alignThreads([], 0, 10)).toEqual([]);
});

it("the chosen thread is beside its text: others give way, as far as there is space above", () => {
  expect(alignThreads([at(0), at(300), at(340), at(350)], 2, 10)).toEqual([0, 230, 340, 450]);
  // Two threads do not fit above the third one.
  expect(alignThreads([at(0), at(100), at(120)], 2, 10)).toEqual([0, 110, 220]);
});
