import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FunctionName } from "./library.ts";
import { type TestContext, testContext } from "./test-context.ts";

let context: TestContext;
beforeEach(() => {
  context = testContext();
});
afterEach(() => context.remove());

const at = (path: string): string => join(context.cwd, path);
const put = (path: string, text: string): void => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};
const text = (path: string): string => readFileSync(at(path), "utf8");

const LINES = "alpha 1\n\nbeta 22\r\n  \nalpha 333\n";

describe("functions on lines of a file", () => {
  test.each<[FunctionName, unknown[], unknown]>([
    ["file_contains", ["in", "beta"], true],
    ["file_contains", ["in", "b.ta"], false],
    ["file_contains", ["nowhere", "x"], false],
    ["regex_extract", ["in", "^alpha \\d+$"], ["alpha 1", "alpha 333"]],
    ["regex_extract", ["in", "(?=x)"], []],
    ["grep_string", ["in", "22"], "beta 22"],
    ["grep_regex", ["in", "\\d{2,}"], "beta 22\nalpha 333"],
    ["grep_string", ["nowhere", "x"], ""],
    ["cat_file", ["in"], null],
  ])("%s(%j) is %j", (name, args, value) => {
    put("in", LINES);
    expect(context.call(name, ...args)).toEqual(value);
  });

  test.each<[FunctionName, unknown[], string]>([
    ["grep_string_to_file", ["deep/out", "in", "alpha"], "alpha 1\nalpha 333\n"],
    ["grep_regex_to_file", ["deep/out", "in", "2+"], "beta 22\n"],
    ["cut_to_file", ["in", " ", 2, "deep/out"], "1\n22\n\n333\n"],
    ["sed_string_replace", ["s/a/\\1$&/g", "in", "deep/out"], ""],
    ["sed_string_replace", ["s|alpha|[x]|", "in", "deep/out"], "[x] 1\n\nbeta 22\r\n  \n[x] 333\n"],
    ["sed_regex_replace", ["s/([a-z]+) (\\d+)/\\2 $1 &\\&/", "in", "deep/out"], ""],
  ])("%s(%j) writes lines", (name, args, written) => {
    put("in", LINES);
    expect(context.call(name, ...args)).toBe(true);
    if (written !== "") expect(text("deep/out")).toBe(written);
  });

  test("replacements can refer to groups and the match only", () => {
    put("in", "host 80\nhost 443\n");
    context.call("sed_regex_replace", "s/([a-z]+) (\\d+)/\\2 $1 &\\&/", "in", "out");
    expect(text("out")).toBe("80 $1 host 80&\n443 $1 host 443&\n");
    context.call("sed_string_replace", "s#H#\\1$&#gi", "in", "out");
    expect(text("out")).toBe("\\1$&ost 80\n\\1$&ost 443\n");
    for (const syntax of ["", "s/a", "s/a/b", "y/a/b/", "s/a/b/e", "s//x/", "s/(/x/"])
      expect(context.call("sed_regex_replace", syntax, "in", "out")).toBe(false);
  });

  test("removes blank lines in place", () => {
    put("in", LINES);
    expect(context.call("remove_blank_lines", "in")).toBe(true);
    expect(text("in")).toBe("alpha 1\nbeta 22\nalpha 333\n");
    expect(readdirSync(context.cwd)).toEqual(["in"]);
  });

  test("splits a file into parts, with a list of them", () => {
    put("in", "1\n2\n3\n4\n5\n");
    expect(context.call("chunk_file", "in", 2, "parts/list")).toBe(true);
    const parts = text("parts/list").trim().split("\n");
    expect(parts.map((path) => readFileSync(path, "utf8"))).toEqual(["1\n2\n", "3\n4\n", "5\n"]);
    expect(context.call("chunk_file", "in", 0, "parts/list")).toBe(false);
  });

  test("normalizes domain names", () => {
    put(
      "subs",
      "*.A.example.com\nhttps://b.example.com/x\n2fc.example.com\nA.example.com\n10.0.0.1\n1-2-3-4.example.com\nother.org\nexample.com\nnotexample.com\n",
    );
    expect(context.call("clean_sub", "subs", "example.com")).toBe(true);
    expect(text("subs")).toBe("a.example.com\nb.example.com\nc.example.com\nexample.com\n");
  });

  test("finds the lines that only the second file has", () => {
    put("old", "a\nb\n");
    put("new", "b\nc\n\na\nc\nd\n");
    expect(context.call("extract_diff", "old", "new")).toBe("c\nd");
    expect(context.call("extract_diff", "nowhere", "new")).toBe("");
    expect(context.call("diff_unix", "old", "new", "said")).toContain("> c");
    expect(text("said")).toContain("> c");
    expect(context.call("diff_unix", "old", "old")).toBe("");
  });
});

describe("trees", () => {
  beforeEach(() => {
    put("a/one.txt", "1");
    put("a/deep/two.txt", "2");
    put("b/three.json", "3");
  });

  test("are removed", () => {
    expect(context.call("remove_folder", "b/three.json")).toBe(false);
    expect(context.call("remove_folder", "b")).toBe(true);
    expect(context.call("rm_rf", "a/deep")).toBe(true);
    expect(context.call("rm_rf", "nowhere")).toBe(true);
    expect(existsSync(at("a/one.txt"))).toBe(true);
    expect(existsSync(at("a/deep"))).toBe(false);
  });

  test("are emptied except for one file", () => {
    expect(context.call("remove_all_except", "a", "missing.txt")).toBe(false);
    expect(context.call("remove_all_except", "a", "a/one.txt")).toBe(true);
    expect(readdirSync(at("a"))).toEqual(["one.txt"]);
  });

  test("are moved", () => {
    expect(context.call("move_file", "a/one.txt", "c/new.txt")).toBe(true);
    expect(context.call("move_file", "c/new.txt", "b")).toBe(true);
    expect(readdirSync(at("b")).sort()).toEqual(["new.txt", "three.json"]);
    expect(context.call("move_file", "nowhere", "x")).toBe(false);
  });

  test.each([
    ["**/*.txt", ["a/deep/two.txt", "a/one.txt"]],
    ["a/*.{txt,md}", ["a/one.txt"]],
    ["b/three.json", ["b/three.json"]],
    ["none*", []],
    ["*/../../*", []],
    ["*a*b*c*d*e*", []],
    ["+(a|b)", []],
  ])("are searched by %s", (pattern, found) => {
    expect(context.call("glob", pattern)).toEqual(found);
  });

  test("are not removed if they contain the workspace", () => {
    for (const path of [".", "", context.cwd, `${context.cwd}/a/..`])
      for (const name of ["rm_rf", "remove_folder", "extract_to"] as const) {
        try {
          expect(context.call(name, ...(name === "extract_to" ? ["a.zip", path] : [path]))).toBe(false);
        } catch (error) {
          expect((error as Error).name).toBe("ScriptError");
        }
      }
    expect(existsSync(at("a/one.txt"))).toBe(true);
  });

  test.each([
    ["a/one.txt", "file"],
    ["a", "folder"],
    ["10.0.0.0/8", "cidr"],
    ["10.0.0.0/33", "string"],
    ["::1", "ip"],
    ["https://x.example/", "url"],
    ["sub.x.example", "domain"],
    ["../..", "string"],
    ["", "string"],
  ])("get_types(%j) is %s", (given, kind) => {
    expect(context.call("get_types", given)).toBe(kind);
  });

  test("report their language and whether they are a git repository", () => {
    put("src/a.go", "");
    put("src/b.go", "");
    put("src/c.py", "");
    put("src/.git/config", "");
    put("src/node_modules/x/a.js", "");
    expect(context.call("detect_language", "src")).toBe("golang");
    expect(context.call("detect_language", "a")).toBe("");
    expect(context.call("is_git", "src")).toBe(true);
    expect(context.call("is_git", "a")).toBe(false);
  });
});

test("a link never leads a function out of the workspace", () => {
  symlinkSync("/etc", at("out"));
  symlinkSync("/etc/passwd", at("passwd"));
  symlinkSync("/nowhere/at/all", at("dangling"));
  for (const path of ["out/passwd", "passwd", "out", "dangling", "out/new"]) {
    expect(() => context.call("read_file", path)).toThrow();
    expect(() => context.call("save_content", "x", path)).toThrow();
    expect(context.call("file_length", path)).toBe(0);
  }
  expect(context.call("glob", "*/passwd")).toEqual([]);
  expect(context.call("remove_file", "passwd")).toBe(true);
  expect(existsSync("/etc/passwd")).toBe(true);
});
