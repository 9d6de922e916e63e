import { describe, expect, it } from "vitest";
import { joinWords, parseTerms, splitWords, TERMS_MAX } from "./words.ts";

describe("words of a text", () => {
  it.each([
    ["Élan vital, ÇA VA?", "elan vital ca va"],
    ["COVID-19 e-mail@example.com", "covid 19 e mail example com"],
    ["Straße ﬁn ½", "strasse fin 1 2"],
    ["东京都", "东京 京都 都"],
    ["東京タワー2026年", "東京 京タ タワ ワー ー 2026 年"],
    ["한국어를", "한국 국어 어를 를"],
    ["مرحبا بالعالم", "مرحبا بالعالم"],
    ["bud\u200bget soft\u00adware \ufeffstart", "budget software start"],
    ["🎉 👩‍💻 a\0b \ud800", "a b"],
    ["", ""],
  ])("%j are %j", (text, words) => {
    expect(joinWords(text)).toBe(words);
  });

  it("have positions in the text", () => {
    const text = "«É\u0301lan» 東京";
    expect(splitWords(text).map(({ word, start, end }) => [word, text.slice(start, end)])).toEqual([
      ["elan", "É\u0301lan"],
      ["東京", "東京"],
      ["京", "京"],
    ]);
  });

  it("have a maximum length", () => {
    expect(joinWords(`${"a".repeat(100)} b`)).toBe(`${"a".repeat(64)} b`);
  });
});

describe("terms of a query", () => {
  const termsOf = (query: string) =>
    parseTerms(query).map(({ words, isPrefix }) => `${words.join(" ")}${isPrefix ? "*" : ""}`);

  it.each([
    ["Budget plan", ["budget*", "plan*"]],
    ["of it", ["of", "it"]],
    ['"annual report" 2026', ["annual report", "2026*"]],
    ["“annual report” «des frais»", ["annual report", "des frais"]],
    ["budget budget BUDGET", ["budget*"]],
    ["e-mail", ["e mail*"]],
    ["東京", ["東京"]],
    ["東京都", ["東京 京都"]],
    ["京", ["京*"]],
    ['"東京 tower"', ["東京 京 tower"]],
    ['"', []],
    ['"unclosed phrase', ["unclosed*", "phrase*"]],
    ['a" OR "b', ["a", "or", "b"]],
    ["title:x* NEAR(y) -z ^w {c} : (d)", ["title x", "near y", "z", "w", "c", "d"]],
    ["🎉\0", []],
  ])("%j are %j", (query, terms) => {
    expect(termsOf(query)).toEqual(terms);
  });

  it("are counted", () => {
    const query = Array.from({ length: TERMS_MAX }, (_, at) => `w${at}`).join(" ");
    expect(parseTerms(query)).toHaveLength(TERMS_MAX);
  });
});
