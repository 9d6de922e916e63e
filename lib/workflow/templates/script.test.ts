import * as fc from "fast-check";
import { expect, test } from "vitest";
import { renderScript } from "./script.ts";

/** Runs rendered code here, with its variables in scope: only for the code of these tests. */
function run(source: string, values: Record<string, unknown>): unknown {
  const { code, variables } = renderScript(source, values);
  const names = Object.keys(variables);
  return new Function(...names, "code", "return eval(code)")(...names.map((name) => variables[name]), code);
}

const HOSTILE = `a"b'c\\d\`e\${f}\n{{x}} // */ /`;

test.each([
  ["{{x}}", HOSTILE],
  ['"{{x}}"', HOSTILE],
  ['"<{{x}}>"', `<${HOSTILE}>`],
  ["'{{x}}{{x}}'", HOSTILE + HOSTILE],
  ["`<{{x}}>`", `<${HOSTILE}>`],
  ["`${`{{x}}` + '{{x}}'}|{{x}}`", `${HOSTILE}${HOSTILE}|${HOSTILE}`],
  ['"a{{x}}b".length', HOSTILE.length + 2],
  ["'{{n}}' * 2 + '1'", "61"],
  ['({"k{{n}}": 1, "{{n}}" : 2, c: true ? "{{n}}" : 0})', { k3: 1, "3": 2, c: "3" }],
  ["true ? '{{n}}' : ['{{n}}', '{{n}}']", "3"],
  ["let a = 1\n'{{n}}'", "3"],
  ['/"/.test(\'"\') && "{{n}}"', "3"],
  ["6 / {{n}} / 2 + '{{n}}'", "13"],
  ["[/[/'\"]/.source, '{{n}}']", ["[/'\"]", "3"]],
  ["/* ' {{x}} */ 'b' // \" {{x}}\n + '{{n}}'", "b3"],
  ["'it\\'s {{n}}'", "it's 3"],
  ["{{list}}[1] + {{list}}.length", 4],
  ['"{{list}}"', "[1,2]"],
  ["{{none}}", ""],
  ['"{{none}}"', ""],
  ["{{code | raw}}", 5],
])("%s", (source, result) => {
  expect(run(source, { x: HOSTILE, n: 3, list: [1, 2], code: "2 + 3" })).toEqual(result);
});

test.each([
  ["/a{{x}}/", /regular expression/],
  ["'\\{{x}}'", /backslash/],
])("%s is refused", (source, message) => {
  expect(() => renderScript(source, { x: "v" })).toThrow(message);
});

test("whatever the value, it comes out as it went in, in code and in every kind of literal", () => {
  // biome-ignore lint/nursery/noFloatingPromises: a property that is not asynchronous is checked at once
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (x) => {
      expect(run("[{{x}}, '{{x}}', \"{{x}}\", `{{x}}`, '<{{x}}>'.length]", { x })).toEqual([
        x,
        x,
        x,
        x,
        x.length + 2,
      ]);
    }),
    { numRuns: 300 },
  );
});
