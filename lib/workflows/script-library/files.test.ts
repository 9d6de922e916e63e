import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type TestContext, testContext } from "./test-context.ts";

let context: TestContext;
beforeEach(() => {
  context = testContext();
});
afterEach(() => context.remove());

function at(name: string): string {
  return join(context.cwd, name);
}

describe("files", () => {
  test("resolve relative to the workspace and by absolute paths", () => {
    mkdirSync(at("sub"));
    writeFileSync(at("sub/a"), "x");
    expect(context.call("file_exists", "sub/a")).toBe(true);
    expect(context.call("file_exists", at("sub"))).toBe(true);
    expect(context.call("file_exists", "sub/b")).toBe(false);
    expect(context.call("file_exists")).toBe(false);
    expect([context.call("is_file", "sub/a"), context.call("is_dir", "sub/a")]).toEqual([true, false]);
    expect([context.call("is_file", "sub"), context.call("is_dir", "sub")]).toEqual([false, true]);
    expect(context.logs).toEqual([]);
  });

  test("report the number of lines that are not blank", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "", "  ", "\t", "b c", "ä\r"), { maxLength: 30 }),
        (lines) => {
          writeFileSync(at("lines"), lines.join("\n"));
          expect(context.call("file_length", "lines")).toBe(
            lines.filter((line) => line.trim() !== "").length,
          );
        },
      ),
    );
    expect(context.call("file_length", "nowhere")).toBe(0);
    expect(context.logs).toEqual([expect.stringContaining("warn file_length: ENOENT")]);
  });

  test("report the number of lines of a large file in little memory", () => {
    execFileSync("bash", ["-c", "head -c 100000000 /dev/zero | tr '\\0' x > big; printf '\\nlast' >> big"], {
      cwd: context.cwd,
    });
    const before = process.memoryUsage().rss;
    expect(context.call("file_length", "big")).toBe(2);
    expect(process.memoryUsage().rss - before).toBeLessThan(40_000_000);
  });

  test("return their text and lines", () => {
    writeFileSync(at("a"), "one\r\ntwo\n\nlast");
    expect(context.call("read_file", "a")).toBe("one\r\ntwo\n\nlast");
    expect(context.call("read_lines", "a")).toEqual(["one", "two", "", "last"]);
    expect(context.call("read_file", "nowhere")).toBe("");
    expect(context.call("read_lines", "nowhere")).toEqual([]);
  });

  test("above the size limit throw instead of being truncated", () => {
    writeFileSync(at("big"), Buffer.alloc(10 * 1024 * 1024 + 1, "x"));
    expect(() => context.call("read_file", "big")).toThrow("big is larger than the limit of 10 MiB");
    writeFileSync(at("big"), Buffer.alloc(10 * 1024 * 1024, "x"));
    expect(String(context.call("read_file", "big")).length).toBe(10 * 1024 * 1024);
  });

  test("that are pipes or devices, or have a NUL in their name, are rejected immediately", () => {
    execFileSync("mkfifo", [at("pipe")]);
    expect(context.call("read_file", "pipe")).toBe("");
    expect(context.call("save_content", "x", "pipe")).toBe(false);
    expect(context.call("file_length", "/dev/zero")).toBe(0);
    expect(context.call("file_exists", "a\0b")).toBe(false);
    expect(context.logs.length).toBe(4);
  });

  test("are written, appended to and removed", () => {
    expect(context.call("save_content", "one\n", "deep/er/a")).toBe(true);
    expect(context.call("save_content", { two: 2 }, "b")).toBe(true);
    expect(context.call("append_file", "deep/er/a", "b")).toBe(true);
    expect(readFileSync(at("deep/er/a"), "utf8")).toBe('one\n{"two":2}');
    expect(context.call("append_file", "b", "b")).toBe(true);
    expect(readFileSync(at("b"), "utf8")).toBe('{"two":2}{"two":2}');
    expect(context.call("append_file", "b", "nowhere")).toBe(false);
    expect(context.call("remove_file", "b")).toBe(true);
    expect(context.call("remove_file", "b")).toBe(false);
    expect(context.call("remove_file", "deep")).toBe(false);
    expect(existsSync(at("deep/er/a"))).toBe(true);
  });

  test("are sorted by bytes, with duplicate lines removed", () => {
    writeFileSync(at("-names"), "b\nB\na\nb\n");
    expect(context.call("sort_unix", "-names", "sorted")).toBe(true);
    expect(readFileSync(at("sorted"), "utf8")).toBe("B\na\nb\n");
    expect(context.call("sort_unix", "-names")).toBe(true);
    expect(readFileSync(at("-names"), "utf8")).toBe("B\na\nb\n");
    expect(context.call("sort_unix", "nowhere")).toBe(false);
  });
});

test("creates folders with their parents, and counts their files", () => {
  expect(context.call("create_folder", "a/b")).toBe(true);
  expect(context.call("create_folder", "a/b")).toBe(true);
  expect(context.call("dir_length", "a")).toBe(1);
  expect(context.call("dir_length", "nowhere")).toBe(0);
  writeFileSync(at("file"), "");
  expect(context.call("create_folder", "file/x")).toBe(false);
});

describe("events", () => {
  test.each([
    [{ a: 1 }, { a: 1 }],
    ['{"a": {"b": 2}}', { a: { b: 2 } }],
    ["plain", { value: "plain" }],
    ["{broken", { value: "{broken" }],
    ["[1]", { value: "[1]" }],
    [[1], { value: [1] }],
    [7, { value: 7 }],
    [undefined, {}],
  ])("with %j contain %j", (given, data) => {
    expect(context.call("generate_event", "ws", "custom.x", "test", "json", given)).toBe(true);
    expect(context.events).toEqual([
      { workspace: "ws", topic: "custom.x", source: "test", data_type: "json", data },
    ]);
  });

  test("without a topic are not emitted", () => {
    expect(context.call("generate_event", "ws", "", "test", "json", {})).toBe(false);
    expect(context.events).toEqual([]);
  });

  test("are read from a file, one per line", () => {
    writeFileSync(at("hosts"), 'a.example\n\n{"host":"b.example"}\r\n  \nc.example');
    expect(context.call("generate_event_from_file", "ws", "asset.discovered", "file", "host", "hosts")).toBe(
      3,
    );
    expect(context.events.map((event) => event.data)).toEqual([
      { value: "a.example" },
      { host: "b.example" },
      { value: "c.example" },
    ]);
    expect(context.call("generate_event_from_file", "ws", "t", "s", "d", "nowhere")).toBe(0);
  });
});

describe("jq", () => {
  test.each([
    ['{"a":[1,2]}', ".a", [1, 2]],
    ['{"a":[1,2]}', ".a[]", 1],
    [{ a: "ä\n" }, ".a # comment", "ä\n"],
    ["[1,2,3]", "map(select(. > 1)) | length", 2],
    ["null", "repeat(1)", 1],
    ["{}", ".missing", null],
    ["{}", "empty", ""],
    ['{"a":1} {"a":2}', ".a", 1],
    ["2", "-1 + .", 1],
    ["{}", "env | length", expect.any(Number)],
  ])("of %j by %s is %j", async (json, query, value) => {
    expect(await context.prepared("jq", json, query)).toEqual(value);
  });

  test.each([
    ["not json", "."],
    ["{}", "syntax error("],
    ["{}", 'error("x")'],
    ["{}", "def f: [f]; f"],
    ["{}", "$ENV.HOME | input_filename | error"],
  ])("of %j by %s is empty, with a warning", async (json, query) => {
    expect(await context.prepared("jq", json, query)).toBe("");
    expect(context.logs).toEqual([expect.stringMatching(/^warn jq: /)]);
    expect(await context.prepared("jq", "1", ".")).toBe(1);
  });

  test("reads files", async () => {
    writeFileSync(at("a.json"), '{"a":{"b":3}}');
    expect(await context.prepared("jq_from_file", "a.json", ".a.b")).toBe(3);
    expect(await context.prepared("jq_from_file", "nowhere", ".")).toBe("");
  });
});
