import { expect, it } from "vitest";
import { matches } from "./filter.ts";

it.each([
  ["", "Heading 1", true],
  ["ead", "Heading 1", true],
  ["h1", "Heading 1", true],
  ["TITRE", "Heading 1", true],
  ["equ", "Équation", true],
  ["eading2", "Heading 1", false],
  ["1h", "Heading 1", false],
])("%j finds %j: %j", (query, label, expected) => {
  expect(matches(query, label, "h1, titre 1, title")).toBe(expected);
});
