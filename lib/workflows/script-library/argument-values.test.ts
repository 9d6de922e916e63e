import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { callables, type FunctionName, functions } from "./library.ts";
import { testContext } from "./test-context.ts";
import { aliasOf, WORKSPACE_FUNCTIONS } from "./workspace-functions.ts";

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
  ["trim_string", ["--a--b--", "--"], "a--b"],
  ["trim_left", ["//a/", "/"], "a/"],
  ["trim_right", ["a/", ""], "a/"],
  ["cut_with_delim", ["a:b:c", ":", 2], "b"],
  ["cut", ["a:b", ":", "3"], ""],
  ["cut", ["a:b", ":", 0], ""],
  ["cut_space", ["  GET   /x 200 ", 2], "/x"],
  ["normalize_path", ['https://a/b?c|"<>*\\'], "https___a_b_c______"],
  ["normalize_path", [".."], "__"],
  ["get_target_space", ["a.example:80"], "a.example_80"],
  ["pick_valid", ["", null, "undefined", false, [], 0, "x"], 0],
  ["pick_valid", ["", " ", "x", "y"], "x"],
  ["pick_valid", [], ""],
  ["set_var", ["a", { b: 1 }], { b: 1 }],
  ["get_var", ["never set"], ""],
  ["exit", [0], null],
  ["is_compress", ["a/b.tar.gz"], true],
  ["is_compress", ["a.txt"], false],
  ["get_parent_url", ["https://example.com/a/b.php?x=1#y"], "https://example.com/a/"],
  ["get_parent_url", ["https://example.com/a/b/"], "https://example.com/a/"],
  ["get_parent_url", ["https://example.com"], "https://example.com/"],
  ["get_parent_url", ["no address"], ""],
  [
    "parse_url",
    [
      "https://u:p@api.sub.example.co.uk:8443/a/b.JPG?x=1#f",
      "%s|%u|%d|%S|%r|%t|%P|%p|%e|%q|%f|%a|%%|%@%:%?%#|%z",
    ],
    "https|u:p|api.sub.example.co.uk|api.sub|example|co.uk|8443|/a/b.JPG|JPG|x=1|f|u:p@api.sub.example.co.uk:8443|%|@:?#|%z",
  ],
  ["parse_url", ["http://10.0.0.1/", "%S.%r.%t%:%P"], ".10.0.0.1."],
  ["parse_url", ["nothing", "%d"], ""],
  [
    "query_replace",
    ["https://x.example/?a=1&b&c=3#h", "F Z"],
    "https://x.example/?a=F%20Z&b=F%20Z&c=F%20Z#h",
  ],
  ["query_replace", ["https://x.example/?a=1", "F", "append"], "https://x.example/?a=1F"],
  ["query_replace", ["https://x.example/p", "F"], "https://x.example/p"],
  ["path_replace", ["https://x.example/a/b/c?q", "n"], "https://x.example/n/b/c?q"],
  ["path_replace", ["https://x.example/a/b/c", "n/m", 2], "https://x.example/a/n%2Fm/c"],
  ["path_replace", ["https://x.example/a/b/", "n", 0], "https://x.example/n/n/"],
  ["path_replace", ["https://x.example/a", "n", 7], "https://x.example/a"],
  ["get_ip", ["http://[::1]:80/x"], "::1"],
  ["get_ip", ["10.1.2.3:8080"], "10.1.2.3"],
];

describe("a function returns", () => {
  test.each(CASES)("%s(%j) = %j", (name, args, value) => {
    expect(context.call(name, ...args)).toEqual(value);
  });

  test("its failure value and a warning if it fails", () => {
    context.logs.length = 0;
    expect(context.call("regex_match", "(?=a)", "a")).toBe(false);
    expect(context.call("base64_decode", "?")).toBe("");
    expect(context.logs).toEqual([
      expect.stringMatching(/^warn regex_match: /),
      expect.stringMatching(/^warn base64_decode: /),
    ]);
  });
});

test("every function has two distinct spellings, except those that JavaScript defines", () => {
  const names = Object.keys(functions);
  const spellings = new Set(names.flatMap((name) => [name, aliasOf(name)]));
  for (const own of ["parseInt", "parseFloat"]) expect(spellings.delete(own)).toBe(true);
  expect([...callables.keys()].sort()).toEqual([...spellings].sort());
  expect(new Set(names.map(aliasOf)).size).toBe(names.length);
  expect(aliasOf("file_exists")).toBe("fileExists");
});

test("functions without files and documents throw only documented errors, for arguments of any type", () => {
  const names = Object.keys(functions).filter(
    (name) =>
      functions[name]!.unavailable !== true &&
      functions[name]!.group !== "http" &&
      functions[name]!.group !== "documents" &&
      !WORKSPACE_FUNCTIONS.has(name),
  );
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.array(fc.jsonValue(), { maxLength: 4 }), (name, args) => {
      try {
        context.call(name as FunctionName, ...args);
      } catch (error) {
        expect([name, (error as Error).message]).toEqual([
          expect.stringMatching(/^(?:exit|set_var|skip|run_module|run_flow)$/),
          expect.stringMatching(/^(?:exit|set_var|skip|run_module|run_flow): /),
        ]);
      }
    }),
  );
});

test("base64 round-trips", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(context.call("base64_decode", context.call("base64_encode", text))).toBe(text);
    }),
  );
});

test("random texts have the requested length and alphabet", () => {
  expect(context.call("random_string", 40)).toMatch(/^[A-Za-z0-9]{40}$/);
  expect(context.call("random_string")).toMatch(/^[A-Za-z0-9]{16}$/);
  expect(context.call("random_string", -1)).toBe("");
  expect(context.call("uuid")).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});

test("a pattern with catastrophic backtracking in other engines is fast", () => {
  const started = process.cpuUsage().user;
  expect(context.call("match", `${"a".repeat(20_000)}!`, "(a+)+$")).toBe(false);
  expect(process.cpuUsage().user - started).toBeLessThan(2_000_000);
});

test.each(["(a+)+$", "(?:a|aa)+$", "([a-z]+)*$", "(.*)(.*)(.*)(.*)[^!]$", "^(a?){100}a{100}$"])(
  "the pattern %s takes linear time for an adversarial text",
  (pattern) => {
    const started = process.cpuUsage().user;
    context.call("match", `${"a".repeat(30_000)}!`, pattern);
    context.call("match", "x", "a{1000}{1000}");
    context.call("match", "x", "a".repeat(20_000));
    expect(process.cpuUsage().user - started).toBeLessThan(3_000_000);
  },
);

test("a long workspace name is cut and stays unique", () => {
  const one = context.call("get_target_space", `${"a".repeat(60)}1`);
  const two = context.call("get_target_space", `${"a".repeat(60)}2`);
  expect(String(one)).toMatch(/^a{21}-[0-9a-f]{8}$/);
  expect(two).not.toBe(one);
});

test("values and variables last for one script, and commands see the variables", () => {
  expect(context.call("set_var", "x", 5)).toBe(5);
  expect(context.call("get_var", "x")).toBe(5);
  expect(context.call("os_setenv", "MADE_HERE", "a b")).toBe(true);
  expect(context.call("os_getenv", "MADE_HERE")).toBe("a b");
  expect(context.call("exec_cmd", 'printf %s "$MADE_HERE"')).toBe("a b");
  expect(context.call("os_setenv", "A=B", "x")).toBe(false);
  const other = testContext();
  expect([other.call("get_var", "x"), other.call("os_getenv", "MADE_HERE")]).toEqual(["", ""]);
  other.remove();
});

test("the server's own variables are not readable", () => {
  process.env.WEFT_TEST_SECRET = "secret";
  expect(context.call("os_getenv", "WEFT_TEST_SECRET")).toBe("");
  delete process.env.WEFT_TEST_SECRET;
});

test("exit and skip end the script", () => {
  expect(() => context.call("exit", 3)).toThrow("exit: the script ended with code 3");
  context.logs.length = 0;
  expect(() => context.call("skip", "nothing to do")).toThrow("skip: nothing to do");
  expect(context.logs).toEqual(["skip nothing to do"]);
});

test("a function of another product explains this, in both spellings", () => {
  const missing = Object.entries(functions).filter(([, { unavailable }]) => unavailable === true);
  expect(missing.length).toBeGreaterThan(35);
  for (const [name] of missing)
    for (const spelling of [name, aliasOf(name)])
      expect(() => callables.get(spelling)?.run([], context)).toThrow(`${name} is not available: `);
});

test.each([
  "ssh://-oProxyCommand=id/x",
  "ssh://git@-oProxyCommand=id/x",
  "git@-oProxyCommand=id:x",
  "--upload-pack=id",
  "ext::sh -c id",
  "file:///etc",
  "/etc",
  "https://a.example/x y",
])("git does not clone %s", (address) => {
  const asked: string[] = [];
  const watched = {
    ...context,
    exec: (command: string) => ({ stdout: command, failure: String(asked.push(command)) }),
  };
  for (const name of ["git_clone", "git_clone_subfolder"])
    expect(callables.get(name)?.run([address, "inner", "dest"], watched)).toBe(false);
  expect(asked).toEqual([]);
});

test("git clones the given repository, with its address as data", () => {
  const asked: unknown[] = [];
  const watched = {
    ...context,
    exec: (command: string, env: Record<string, string> = {}) => {
      asked.push(env);
      return { stdout: command };
    },
  };
  for (const address of ["https://u:p@a.example/x.git", "git@a.example:y/x.git", "ssh://git@a.example/x"]) {
    expect(callables.get("git_clone")?.run([address], watched)).toBe(true);
    expect(asked.at(-1)).toEqual({ URL: address, DEST: `${context.cwd}/x` });
  }
});

test("programs receive their text as data", () => {
  expect(context.call("exec_python", "import sys\nprint('$HOME `id`', len(sys.argv))")).toBe("$HOME `id` 1");
  expect(context.call("exec_python", "raise SystemExit(1)")).toBe("");
});

test("sleep is bounded", () => {
  context.slept.length = 0;
  context.call("sleep", 0.5);
  context.call("sleep", 1e9);
  context.call("sleep", -1);
  expect(context.slept).toEqual([500, 3_600_000, 0]);
});

test("commands return their trimmed output, and empty text if they fail", () => {
  expect(context.call("exec_cmd", "echo; echo ' a b '")).toBe("a b");
  expect(context.call("bash", "echo partial; exit 2")).toBe("");
  expect(context.logs.at(-1)).toBe("warn bash: exit code 2");
});
