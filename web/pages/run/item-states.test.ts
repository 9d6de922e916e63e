import { expect, it } from "vitest";
import { gradientOf, statesOf } from "./item-states.ts";

it("reads the states of items", () => {
  expect(statesOf({ states: "2c1f1p" })).toEqual(["completed", "completed", "failed", "pending"]);
  expect(statesOf({ states: "" })).toEqual([]);
});

it("draws a strip in which a failure among many stays visible", () => {
  expect(gradientOf({ states: "1c1f" }, 60)).toBe(
    "linear-gradient(to right, var(--item-completed) 0% 50%, var(--item-failed) 50% 100%)",
  );
  expect(gradientOf({ states: "5000c1f4999c" }, 2)).toContain("var(--item-failed) 50% 100%");
  expect(gradientOf({ states: "" }, 60)).toBe("none");
});
