import { expect, it } from "vitest";
import { changesBetween } from "./changes.ts";

const kinds = (before: readonly string[], after: readonly string[]): readonly string[] =>
  changesBetween(before, after).map((block) =>
    block.kind === "skipped"
      ? `skipped ${block.count}`
      : `${block.kind}: ${block.parts
          .map(({ kind, text }) =>
            kind === "added" ? `{+${text}+}` : kind === "removed" ? `[-${text}-]` : text,
          )
          .join("")}`,
  );

it("a changed paragraph is compared by words, others are added or removed", () => {
  expect(kinds(["We meet on Monday at ten.", "old"], ["We meet on Friday at ten.", "old", "new"])).toEqual([
    "changed: We meet on [-Monday-]{+Friday+} at ten.",
    "same: old",
    "added: {+new+}",
  ]);
  expect(kinds(["one thing"], ["entirely different"])).toEqual([
    "removed: [-one thing-]",
    "added: {+entirely different+}",
  ]);
});

it("unchanged paragraphs far from changes are left out", () => {
  const same = Array.from({ length: 9 }, (_, at) => `line ${at}`);
  expect(kinds(same, same)).toEqual(["skipped 9"]);
  expect(kinds(same, ["first", ...same])).toEqual([
    "added: {+first+}",
    "same: line 0",
    "same: line 1",
    "skipped 7",
  ]);
});

it("texts that have nothing in common are shown as replaced, however long they are", () => {
  const text = (word: string): string[] => Array.from({ length: 6_000 }, (_, at) => `${word} ${at * 7919}`);
  const shown = changesBetween(text("before"), text("after"));
  expect(shown.filter(({ kind }) => kind === "removed")).toHaveLength(6_000);
  expect(shown.filter(({ kind }) => kind === "added")).toHaveLength(6_000);
});
