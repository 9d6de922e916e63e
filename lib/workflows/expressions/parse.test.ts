import { describe, expect, it } from "vitest";
import { isReference, parseTemplate, referencedNames, TemplateCache } from "./parse.ts";
import { TemplateError } from "./template-error.ts";

function failure(text: string): TemplateError {
  try {
    parseTemplate(text);
  } catch (error) {
    if (error instanceof TemplateError) return error;
  }
  throw new Error(`${text} was parsed`);
}

describe("a template", () => {
  it.each([
    ["a {{", 2, /never closed/],
    ["a {{ x", 2, /never closed/],
    ['{{ x | default("}}', 0, /never closed/],
    ["a {{ }}", 2, /is empty/],
    ["{{ x | nope }}", 7, /unknown filter "nope"/],
    ["{{ x | default }}", 7, /takes 1 arguments, not 0/],
    ["{{ x | upper(1) }}", 7, /takes 0 arguments, not 1/],
    ["{{ a + }}", 7, /unexpected "}"/],
    ["{{ a < b < c }}", 9, /unexpected "<"/],
    ["{{ (a + b }}", 10, /unexpected "}"/],
    ["{{ a | raw + b }}", 11, /\| raw applies to a whole expression/],
    ["{{ a / 0 }}", 5, /division by zero/],
    ["{{ a % (2 - 2) }}", 5, /division by zero/],
    ["{{ a * 'x' }}", 5, /"x" is not a number, which "\*" needs/],
    ["{{ -'x' }}", 3, /"x" is not a number/],
    ["{{ 9007199254740991 + 1 }}", 20, /not between -9007199254740991 and 9007199254740991/],
    [`{{ ${"(".repeat(33)}a${")".repeat(33)} }}`, 35, /nests deeper than 32 levels/],
    [`{{ ${"-".repeat(40)}a }}`, 35, /nests deeper than 32 levels/],
    [`{{ a${" + a".repeat(300)} }}`, 1029, /more than 256 operators and filters/],
    [`{{ a${" | trim".repeat(300)} }}`, 1797, /more than 256 operators and filters/],
    ["{{.State}}", 2, /unexpected "\."/],
    ["{{ a b }}", 5, /unexpected "b"/],
    ["{{ secrets }}", 3, /secrets\.NAME/],
  ])("rejects %j at %d", (text, offset, message) => {
    const error = failure(text);
    expect(error.offset).toBe(offset);
    expect(error.message).toMatch(message);
  });

  it("lists the distinct names it needs, secrets by their full name", () => {
    const text =
      "{{a.b}} {{a}} {{ b | default(c.d) }} {{secrets.KEY}} {{ 'x' }} {{my-step.x}} [[item]] [[no]]";
    expect(referencedNames(parseTemplate(text, { loopVariables: ["item"] }))).toEqual([
      "a",
      "b",
      "c",
      "secrets.KEY",
      "my-step",
      "my_step",
      "item",
    ]);
    expect(referencedNames(parseTemplate("{{ not (a + 2 > b.c) or d | default(e * f) }} {{x-1}}"))).toEqual([
      "a",
      "b",
      "d",
      "e",
      "f",
      "x-1",
      "x_1",
      "x",
    ]);
  });

  it("treats double brackets as references only to loop variables in scope", () => {
    const text = "[[ -f x ]] [[x]] [[[x]]] [[x ]] [[y]]";
    const references = (loopVariables: string[]): number[] =>
      parseTemplate(text, { loopVariables })
        .parts.filter(isReference)
        .map(({ offset }) => offset);
    expect(references([])).toEqual([]);
    expect(references(["x"])).toEqual([11, 18]);
    expect(references(["y"])).toEqual([32]);
  });

  it("is parsed only once", () => {
    expect(parseTemplate("kept {{x}}")).toBe(parseTemplate("kept {{x}}"));
    const scope = { loopVariables: ["x"] };
    expect(parseTemplate("kept [[x]]", scope)).toBe(parseTemplate("kept [[x]]", scope));
    expect(parseTemplate("kept [[x]]", scope)).not.toBe(parseTemplate("kept [[x]]"));
  });
});

describe("the cache", () => {
  it("evicts the least recently used entry, by number of entries and by size of keys", () => {
    const cache = new TemplateCache<number>({ entries: 2, characters: 10 });
    cache.add("a", 1);
    cache.add("b", 2);
    cache.get("a");
    cache.add("c", 3);
    expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([1, undefined, 3]);
    cache.add("123456789", 4);
    expect([cache.get("a"), cache.get("c"), cache.get("123456789")]).toEqual([undefined, 3, 4]);
    cache.add("longer than ten", 5);
    expect(cache.get("longer than ten")).toBeUndefined();
    expect(cache.size).toBe(2);
  });
});
