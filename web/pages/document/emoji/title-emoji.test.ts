import { expect, it } from "vitest";
import { joinTitle, splitTitle } from "./title-emoji.ts";

it.each([
  ["🚀 Launch", "🚀", "Launch"],
  ["👩‍🚀Crew", "👩‍🚀", "Crew"],
  ["🇫🇷 Paris", "🇫🇷", "Paris"],
  ["🚀", "🚀", ""],
  ["Launch 🚀", "", "Launch 🚀"],
  ["1. Plan", "", "1. Plan"],
  ["", "", ""],
])("%j begins with %j", (title, emoji, text) => {
  expect(splitTitle(title)).toEqual({ emoji, text });
});

it("a title is what it was split into", () => {
  for (const title of ["🚀 Launch", "🚀", "Launch", ""]) {
    const { emoji, text } = splitTitle(title);
    expect(joinTitle(emoji, text)).toBe(title);
  }
});
