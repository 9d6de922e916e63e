import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTemplate } from "./parse.ts";
import { renderShell } from "./render-shell.ts";
import { renderText, renderValue } from "./render-text.ts";
import { TemplateError } from "./template-error.ts";

const values = {
  threads: "10",
  n: 7,
  odd: "7",
  half: "0.5",
  lines: " 3\n",
  Target: "a.example",
  flag: true,
  off: "false",
  none: null,
  empty: "",
  list: ["a", 2],
  map: { key: 1 },
  "my-name": "named",
  zero: 0,
  end: 9,
  start: 4,
  and: "a name",
  not: "no operator",
};
const render = (expression: string): string => renderText(`{{ ${expression} }}`, values);

describe("an expression", () => {
  it.each([
    ["threads * 5", "50"],
    ["threads / 2", "5"],
    ["odd / 2", "3"],
    ["-n / 2", "-3"],
    ["n % 4", "3"],
    ["-n % 4", "-3"],
    ["threads + 1", "11"],
    ["threads - 1", "9"],
    ["threads-1", "9"],
    ["end-start", "5"],
    ["my-name", "named"],
    ["threads+threads", "20"],
    ["lines + 1", "4"],
    ["2 + 3 * 4 - 6 / 3", "12"],
    ["(2 + 3) * (4 - 1)", "15"],
    ["10 - 3 - 2", "5"],
    ["100 / 10 / 5", "2"],
    ["- -n", "7"],
    ["0 / 5 * -1", "0"],
  ])("keeps results of integer operations as integers: %s is %s", (expression, expected) => {
    expect(render(expression)).toBe(expected);
  });

  it.each([
    ["odd / 2.0", "3.5"],
    ["threads * half", "5"],
    ["threads * half / 2", "2.5"],
    ["0.1 + 0.2", "0.3"],
    ["1.5 + 1.5", "3"],
  ])("calculates with floats if an operand has a decimal point: %s is %s", (expression, expected) => {
    expect(render(expression)).toBe(expected);
  });

  it.each([
    ["Target + ':' + threads", "a.example:10"],
    ["'1' + '2'", "12"],
    ["threads + '0'", "100"],
    ["'n=' + (n + 1)", "n=8"],
    ["Target + threads", "a.example10"],
    ["Target + nothing", "a.example"],
    ["(threads * 2) | upper", "20"],
    ["((threads * 2) | upper) + 1", "201"],
    ["threads * '2' | trim", "20"],
    ["nothing | default(n * 2)", "14"],
    ["nothing | default:threads * 2", "20"],
    ["list | length + 1", "3"],
    ["(Target + '/x') | upper", "A.EXAMPLE/X"],
  ])("concatenates text and applies a filter only to its operand: %s is %s", (expression, expected) => {
    expect(render(expression)).toBe(expected);
  });

  it.each([
    ["threads > 9", true],
    ["threads > '9'", true],
    ["n >= 7 and n <= 7", true],
    ["n != 7", false],
    ["threads == 10", true],
    ["threads == '10'", true],
    ["'1.10' == '1.1'", false],
    ["Target == 'a.example'", true],
    ["'abc' < 'abd'", true],
    ["flag == 'true'", true],
    ["flag && !off", true],
    ["off or empty or none or nothing", false],
    ["not flag", false],
    ["not threads == 11", true],
    ["not(off)", true],
    ["nothing == ''", true],
    ["nothing > 5", false],
    ["nothing <= 5", false],
    ["2 in list", true],
    ["'key' in map", true],
    ["'exam' in Target", true],
    ["'x' in nothing", false],
    ["n == 7 or n / zero == 1", true],
    ["flag || threads > 100 && off", true],
  ])("evaluates to a boolean: %s is %s", (expression, expected) => {
    expect(renderValue(`{{ ${expression} }}`, values)).toBe(expected);
  });

  it("reads operator words as names in positions where no operator is allowed", () => {
    expect([render("and"), render("not"), render("not | upper")]).toEqual([
      "a name",
      "no operator",
      "NO OPERATOR",
    ]);
  });

  it.each([
    ["threads / zero", "division by zero", { zero: "0" }],
    ["threads % zero", "division by zero", { zero: 0 }],
    ["threads * nothing", 'an operand of "*" has no value', {}],
    ["threads + nothing", 'an operand of "+" has no value', {}],
    ["Target * 2", '"a.example" is not a number, which "*" needs', {}],
    ["flag - 1", '"true" is not a number, which "-" needs', {}],
    ["threads > Target", '"a.example" is not a number, which ">" needs', {}],
    ["flag < 'x'", '"true" is not a number, which "<" needs', {}],
    ["big * 10", "not between", { big: "9007199254740991" }],
    ["big * 10", "too large for arithmetic", { big: "9".repeat(30) }],
  ])("that cannot be evaluated explains the error: %s", (expression, message, more) => {
    const attempt = (): string => renderText(`text {{ ${expression} }}`, { ...values, ...more });
    expect(attempt).toThrow(TemplateError);
    expect(attempt).toThrow(message);
  });

  it("bounds the length of its text, and produces long text in linear time", () => {
    const sum = (count: number): string => `{{ ${Array.from({ length: count }, () => "a").join(" + ")} }}`;
    const before = performance.now();
    expect(renderText(sum(100), { a: "x".repeat(100_000) })).toHaveLength(10_000_000);
    expect(() => renderText(sum(200), { a: "x".repeat(100_000) })).toThrow("longer than 10485760 characters");
    expect(performance.now() - before).toBeLessThan(5_000);
  });

  it("keeps values as data in a shell command, and the file's own text as syntax", () => {
    const hostile = { a: "$(touch pwned)", own: "7" };
    const { script, env } = renderShell(
      "echo {{ a + ' ;x' }} {{ own * 2 }} {{ 2 * 3 }} {{ (a + '') | raw }}",
      hostile,
      {
        trusted: (name) => name === "own",
      },
    );
    expect([script, env]).toEqual(['echo "${W1}" 14 6 $(touch pwned)', { W1: "$(touch pwned) ;x" }]);
  });

  it("agrees with integer arithmetic", () => {
    const operator = fc.constantFrom("+", "-", "*", "/", "%");
    const number = fc.integer({ min: -1000, max: 1000 });
    void fc.assert(
      fc.property(number, operator, number, (a, sign, b) => {
        fc.pre(b !== 0 || (sign !== "/" && sign !== "%"));
        const exact = { "+": a + b, "-": a - b, "*": a * b, "/": Math.trunc(a / b), "%": a % b }[sign];
        expect(renderText(`{{ a ${sign} b }}`, { a: String(a), b })).toBe(String((exact ?? 0) + 0));
        expect(renderText(`{{ (${a}) ${sign} (${b}) }}`, {})).toBe(String((exact ?? 0) + 0));
      }),
    );
  });

  it("is parsed in linear time", () => {
    const long = `{{ ${"(a + 1) * ".repeat(100)}1 }}`.repeat(1_000);
    const before = performance.now();
    expect(parseTemplate(long).parts).toHaveLength(1_000);
    expect(performance.now() - before).toBeLessThan(5_000);
  });
});
