import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTemplate } from "./parse.ts";
import { renderHeader, renderText, renderValue } from "./render-text.ts";
import { TemplateError } from "./template-error.ts";

const values = {
  s: "text",
  empty: "",
  yes: true,
  no: false,
  n: 1.5,
  big: 1e21,
  nil: null,
  list: ["a", "b c", 3],
  o: { a: { b: [{ c: "deep" }] }, "x-y": "hyphen", snake_case: "under" },
  my_step: "stepped",
  words: " a  b\nc ",
  path: "/tmp/dir/file.txt",
};

describe("text", () => {
  it.each([
    ["{{s}}|{{ s }}|{{none}}|{{nil}}|{{empty}}", "text|text|||"],
    ["{{yes}} {{no}} {{n}} {{big}}", "true false 1.5 1000000000000000000000"],
    ["{{list}} {{o.a}}", '["a","b c",3] {"b":[{"c":"deep"}]}'],
    ["{{o.a.b.0.c}} {{o.a.b[0].c}} {{o[\"a\"].b[0]['c']}}", "deep deep deep"],
    [
      "{{o.x-y}} {{o.snake-case}} {{my-step}} {{list.1}} {{list.9}} {{s.length}}",
      "hyphen under stepped b c  ",
    ],
    ["{{__proto__}}{{constructor}}{{o.__proto__}}{{o.constructor.name}}{{list.length}}", ""],
    ["{{{s}}} {{{{s}}}}", "{text} {{text}}"],
    ['{{ "{{" }}s}} {{ "}}" }}', "{{s}} }}"],
    [
      "{{ none | default('d') }} {{ empty | default:\"e\" }} {{ no | default(1) }} {{ nil | default(s) }}",
      "d e false text",
    ],
    ["{{ s | upper }} {{ 'ABC' | lower }} <{{ words | trim }}>", "TEXT abc <a  b\nc>"],
    [
      "{{ list | length }} {{ s | length }} {{ o | length }} {{ none | length }} {{ 'é😀' | length }}",
      "3 4 3 0 2",
    ],
    ["{{ list | first }} {{ list | last }} {{ s | first }} {{ none | first }}", "a 3 t "],
    ["{{ list | join }} {{ list | join(' + ') }} {{ s | join }}", "a,b c,3 a + b c + 3 text"],
    ["{{ n | add(1) }} {{ '5' | add:5 }} {{ s | add('x') }} {{ none | add(1) }}", "2.5 10 textx 1"],
    [
      "{{ '7.9' | integer }} {{ 'x' | integer }} {{ '1.5' | float }} {{ 10 | divisibleby:5 }}",
      "7 0 1.5 true",
    ],
    [
      "{{ 'a.b.c' | cut('.') }} {{ s | capfirst }} {{ 'the FIRST o\\'clock' | title }}",
      "abc Text The First O'clock",
    ],
    ["{{ s | slice(':2') }} {{ list | slice('1:') | json }} {{ s | slice('-2:') }}", 'te ["b c",3] xt'],
    [
      "{{ 'abcdef' | truncatechars(5) }} {{ 'abc' | truncatechars(5) }} {{ words | wordcount }}",
      "ab... abc 3",
    ],
    ["{{ yes | yesno }} {{ no | yesno('a,b') }} {{ none | yesno('a,b,c') }} {{ s | safe }}", "yes b c text"],
    ["{{ none | default_if_none('d') }} <{{ empty | default_if_none('d') }}>", "d <>"],
    ["{{ words | split }} {{ 'a,b,,c' | split(',') }}", '["a","b","c"] ["a","b","","c"]'],
    ["{{ 'a.b.c' | split('.') | last | upper }} {{ 'a.b.b' | replace('.b', '$&') }}", "C a$&$&"],
    [
      "{{ path | basename }} {{ path | dirname }} {{ s | json }} {{ none | json }}",
      'file.txt /tmp/dir "text" null',
    ],
    [
      "{{ 'a b/é' | urlencode }} {{ \"it's\" | shell }} {{ list | shell }} {{ s | raw }}",
      "a%20b%2F%C3%A9 'it'\\''s' a 'b c' 3 text",
    ],
  ])("of %j", (template, expected) => {
    expect(renderText(template, values)).toBe(expected);
    expect(renderText(template, (name) => (values as Record<string, unknown>)[name])).toBe(expected);
  });

  it("inserts data unchanged: placeholders in data are not rendered", () => {
    const template = parseTemplate("{{x}}[[x]]", { loopVariables: ["x"] });
    const braces = fc.array(fc.constantFrom("{{", "}}", "[[", "]]", "x", "|", '"', "\\", " "));
    // biome-ignore lint/nursery/noFloatingPromises: a property that is not asynchronous is checked at once
    fc.assert(
      fc.property(braces, (pieces) => {
        const x = pieces.join("");
        expect(renderText(template, { x })).toBe(x + x);
      }),
    );
  });

  it("does not change text without opening braces", () => {
    // biome-ignore lint/nursery/noFloatingPromises: a property that is not asynchronous is checked at once
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }).filter((text) => !text.includes("{{")),
        (text) => {
          expect(renderText(text, {})).toBe(text);
        },
      ),
    );
  });
});

describe("a value", () => {
  it("keeps its type in a template of a single reference, and becomes text otherwise", () => {
    expect(renderValue(" {{list}}\n", values)).toEqual(["a", "b c", 3]);
    expect(renderValue("{{ words | split }}", values)).toEqual(["a", "b", "c"]);
    expect(renderValue("{{none}}", values)).toBeUndefined();
    expect(renderValue("{{list}}{{n}}", values)).toBe('["a","b c",3]1.5');
    expect(renderValue("plain", values)).toBe("plain");
  });
});

describe("a header", () => {
  it.each(["a\r\nX: y", "a\n", "\r", "\0"])("rejects a line break or NUL in a value: %j", (v) => {
    expect(() => renderHeader("Bearer {{v}}", { v })).toThrow(TemplateError);
  });

  it("inserts other values unchanged", () => {
    expect(renderHeader("Bearer {{v}}", { v: "a: b; é" })).toBe("Bearer a: b; é");
  });
});
