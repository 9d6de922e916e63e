import { describe, expect, it } from "vitest";
import { generate } from "./param-generators.ts";

const NOW = Date.parse("2026-03-07T08:09:05Z");
const generated = (source: string, values: Record<string, unknown> = {}): string =>
  generate(source, { now: NOW, values });

describe("a generator", () => {
  it.each([
    ["currentDate()", "2026-03-07"],
    ['currentDate("2006-01-02 15:04:05")', "2026-03-07 08:09:05"],
    ["currentDate('Mon, 2 Jan 06 3:04PM MST')", "Sat, 7 Mar 26 8:09AM UTC"],
    ["currentTimestamp()", "1772870945"],
    ['concat("a", "-", name, "-", 3)', "a-x y-3"],
    ["concat({{name}}, 'it\\'s')", "x yit's"],
    ["toUpper(name)", "X Y"],
    ["replace(name, ' ', '$&')", "x$&y"],
    ["split('a/b/c', '/', 1)", "b"],
    ["split('a/b/c', '/', 9)", ""],
    ["join('+', 'a', \"b,c\")", "a+b,c"],
    ["trim('  a ')", "a"],
  ])("%s returns %s", (source, value) => {
    expect(generated(source, { name: "x y" })).toBe(value);
  });

  it("generates unpredictable values", () => {
    expect(generated("uuid()")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(generated("randomString()")).toMatch(/^[A-Za-z0-9]{16}$/);
    expect(generated("randomString(40)")).not.toBe(generated("randomString(40)"));
    for (let at = 0; at < 50; at += 1) expect(["5", "6"]).toContain(generated("randomInt(5, 7)"));
    expect(generated("randomInt(5, 5)")).toBe("5");
  });

  it.each([
    ["nothing()", /^unknown generator: nothing\(\), must be one of: uuid, /],
    ["uuid", /^unknown generator: uuid/],
    ["constructor()", /^unknown generator/],
    ["execCmd('id')", /^execCmd: not available/],
    ["getEnvVar('AWS_SECRET_ACCESS_KEY')", /^getEnvVar: not available/],
    ["randomInt(5, 4)", /^randomInt: the second number must not be smaller/],
    ["randomString(100000)", /^randomString: the length must be 1 to 1024/],
    ["concat('a' 'b')", /^concat: cannot parse the arguments at character 1/],
    ["split('a', 'b', 'c')", /^split: c is not an integer/],
  ])("rejects %s", (source, message) => {
    expect(() => generated(source)).toThrow(message);
  });

  it("renders the templates in its quoted arguments", () => {
    expect(
      generate(`concat("{{Target}}", '-{{ n * 2 }}')`, { now: 0, values: { Target: "{{n}}", n: 3 } }),
    ).toBe("{{n}}-6");
  });

  it("uses the fallback of a missing environment variable", () => {
    expect(generated("getEnvVar('HOME', '/root')")).toBe("/root");
  });

  it("reads values by name, never inherited properties", () => {
    expect(generated("concat(toString)")).toBe("toString");
  });
});
