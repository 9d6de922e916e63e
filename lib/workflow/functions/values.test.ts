import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { callables, type FunctionName, functions } from "./library.ts";
import { aliasOf } from "./names.ts";
import { testContext } from "./test-context.ts";

const context = testContext({ GIVEN: "1" });
afterAll(() => context.remove());

const CASES: readonly (readonly [FunctionName, readonly unknown[], unknown])[] = [
  ["trim", ["  a b\n"], "a b"],
  ["trim", [], ""],
  ["split", ["a,b,,c", ","], ["a", "b", "", "c"]],
  ["split", ["abc"], ["abc"]],
  ["join", [["a", 1, null], "-"], "a-1-"],
  ["join", ["text", "-"], "text"],
  ["replace", ["a.b.c", ".", "$&"], "a$&b$&c"],
  ["replace", ["abc", "", "x"], "abc"],
  ["contains", ["workflow", "flow"], true],
  ["contains", [["a", "b"], "b"], true],
  ["contains", [["ab"], "b"], false],
  ["starts_with", ["abc", "ab"], true],
  ["ends_with", ["abc", "ab"], false],
  ["to_lower_case", ["ÄB"], "äb"],
  ["to_upper_case", ["äb"], "ÄB"],
  ["match", ["abc12", "^[a-z]+\\d{2}$"], true],
  ["regex_match", ["\\d", "abc"], false],
  ["parse_int", [" 42 "], 42],
  ["parse_int", ["-7.9 apples"], -7],
  ["parse_int", ["none"], 0],
  ["parse_int", [], 0],
  ["parse_float", ["2.5"], 2.5],
  ["to_string", [{ a: [1] }], '{"a":[1]}'],
  ["to_string", [null], ""],
  ["to_boolean", ["Yes"], true],
  ["to_boolean", ["0"], false],
  ["to_boolean", [2], true],
  ["len", ["añ😀"], 3],
  ["len", [[1, 2]], 2],
  ["len", [null], 0],
  ["is_empty", [" \n"], true],
  ["is_empty", [[]], true],
  ["is_empty", [0], false],
  ["is_not_empty", ["x"], true],
  ["base64_encode", ["ä"], "w6Q="],
  ["base64_decode", ["w6Q="], "ä"],
  ["is_url", ["https://example.org/x?y#z"], true],
  ["is_url", ["ftp://example.org"], false],
  ["is_url", ["https://"], false],
  ["log_info", ["seen"], "seen"],
  ["log_warn", ["seen"], null],
  ["print_green", ["ok"], "ok"],
  ["printf", ["ok"], null],
  ["os_getenv", ["GIVEN"], "1"],
  ["os_getenv", ["constructor"], ""],
  ["command_exists", ["bash"], true],
  ["command_exists", ["no-such-program"], false],
  ["command_exists", ["../"], false],
];

describe("a function gives", () => {
  test.each(CASES)("%s(%j) = %j", (name, args, value) => {
    expect(context.call(name, ...args)).toEqual(value);
  });

  test("its failure value and a warning where it cannot do its work", () => {
    context.logs.length = 0;
    expect(context.call("regex_match", "(?=a)", "a")).toBe(false);
    expect(context.call("base64_decode", "?")).toBe("");
    expect(context.logs).toEqual([
      expect.stringMatching(/^warn regex_match: /),
      expect.stringMatching(/^warn base64_decode: /),
    ]);
  });
});

test("every function is there under both spellings but JavaScript's own, and no two share one", () => {
  const names = Object.keys(functions);
  const spellings = new Set(names.flatMap((name) => [name, aliasOf(name)]));
  for (const own of ["parseInt", "parseFloat"]) expect(spellings.delete(own)).toBe(true);
  expect([...callables.keys()].sort()).toEqual([...spellings].sort());
  expect(new Set(names.map(aliasOf)).size).toBe(names.length);
  expect(aliasOf("file_exists")).toBe("fileExists");
});

test("no function throws on arguments of any type", () => {
  const names = Object.keys(functions).filter(
    (name): name is FunctionName =>
      !["file", "output", "unix_commands", "utility"].includes(functions[name as FunctionName].group) &&
      !functions[name as FunctionName].summary.startsWith("Not available"),
  );
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.array(fc.jsonValue(), { maxLength: 3 }), (name, args) => {
      context.call(name, ...args);
    }),
  );
});

test("base64 comes back as it went", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(context.call("base64_decode", context.call("base64_encode", text))).toBe(text);
    }),
  );
});

test("random texts have the length and the letters that were asked for", () => {
  expect(context.call("random_string", 40)).toMatch(/^[A-Za-z0-9]{40}$/);
  expect(context.call("random_string")).toMatch(/^[A-Za-z0-9]{16}$/);
  expect(context.call("random_string", -1)).toBe("");
  expect(context.call("uuid")).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});

test("a pattern that other engines take for ever over is quick", () => {
  const started = performance.now();
  expect(context.call("match", `${"a".repeat(20_000)}!`, "(a+)+$")).toBe(false);
  expect(performance.now() - started).toBeLessThan(2_000);
});

test("sleep is bounded", () => {
  context.call("sleep", 0.5);
  context.call("sleep", 1e9);
  context.call("sleep", -1);
  expect(context.slept).toEqual([500, 3_600_000, 0]);
});

test("commands give their trimmed output, and nothing when they fail", () => {
  expect(context.call("exec_cmd", "echo; echo ' a b '")).toBe("a b");
  expect(context.call("bash", "echo partial; exit 2")).toBe("");
  expect(context.logs.at(-1)).toBe("warn bash: exit code 2");
});
