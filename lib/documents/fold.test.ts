import { expect, it } from "vitest";
import { fold } from "./fold.ts";

it.each([
  ["Ångström", "angstrom"],
  ["ÉTÉ", "ete"],
  ["e\u0301te\u0301", "ete"],
  ["Straße", "strasse"],
  ["Œuvre Ærø Łódź", "oeuvre aero lodz"],
  ["Việt Nam", "viet nam"],
  ["ΑΘΉΝΑ", "αθηνα"],
  ["ﬁn ２", "fin 2"],
  ["İstanbul ılık", "istanbul ilik"],
  ["ÀÉÎÕÜ Straße Łódź Æsir @x", "aeiou strasse lodz aesir @x"],
])("%s is searched as %s", (text, folded) => {
  expect(fold(text)).toBe(folded);
  expect(fold(folded)).toBe(folded);
});

it("ignores unpaired surrogates in searches", () => {
  expect(fold("a\ud800")).toBe("a\ufffd");
});
