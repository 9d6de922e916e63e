import { expect, it } from "vitest";
import { suggestion } from "./suggestion.ts";

const WORDS = ["list", "run", "runs", "schedules", "workflows"];

it.each([
  ["lsit", "list"],
  ["rnu", "run"],
  ["workflwos", "workflows"],
  ["sched", "schedules"],
  ["shcedules", "schedules"],
  ["workflow-", "workflows"],
])("suggests for %j the word %j", (written, word) => {
  expect(suggestion(written, WORDS)).toBe(` Did you mean '${word}'?`);
});

it.each(["", "x", "emit", "documents", "r".repeat(65)])("suggests nothing for %j", (written) => {
  expect(suggestion(written, WORDS)).toBe("");
});
