import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callables, type FunctionName, functions } from "./library.ts";
import { type TestContext, testContext } from "./test-context.ts";
import { WORKSPACE_FUNCTIONS } from "./workspace-functions.ts";

/** Paths that lead out of the workspace, as hostile data contains them. */
const OUTSIDE = (victim: string): readonly string[] => [
  victim,
  `../${victim.split("/").at(-2)}/secret`,
  `sub/../../${victim.split("/").at(-2)}/secret`,
  `./../${victim.split("/").at(-2)}/./secret`,
  "../../../../../../../../etc/passwd",
  "/etc/passwd",
  "link/secret",
  "a\0b",
];

/** The path arguments of each function, and values of the other arguments. */
const PATHS: Readonly<Partial<Record<FunctionName, readonly (readonly unknown[])[]>>> = {
  file_exists: [["P"]],
  file_length: [["P"]],
  dir_length: [["P"]],
  file_contains: [["P", "x"]],
  regex_extract: [["P", "x"]],
  read_file: [["P"]],
  read_lines: [["P"]],
  remove_file: [["P"]],
  remove_folder: [["P"]],
  rm_rf: [["P"]],
  remove_all_except: [["P", "secret"]],
  create_folder: [["P"]],
  append_file: [
    ["P", "in"],
    ["out", "P"],
  ],
  move_file: [
    ["P", "out"],
    ["in", "P"],
  ],
  glob: [["P"]],
  grep_string_to_file: [
    ["P", "in", "x"],
    ["out", "P", "x"],
  ],
  grep_regex_to_file: [
    ["P", "in", "x"],
    ["out", "P", "x"],
  ],
  grep_string: [["P", "x"]],
  grep_regex: [["P", "x"]],
  remove_blank_lines: [["P"]],
  chunk_file: [
    ["P", 1, "out"],
    ["in", 1, "P"],
  ],
  cut_to_file: [
    ["P", "t", 1, "out"],
    ["in", "i", 1, "P"],
  ],
  clean_sub: [["P"]],
  cat_file: [["P"]],
  exec_python_file: [["P"]],
  exec_ts_file: [["P"]],
  jq_from_file: [["P", "."]],
  generate_event_from_file: [["w", "t", "s", "d", "P"]],
  sort_unix: [["P"], ["in", "P"]],
  wget: [["https://x.invalid/a", "P"]],
  wget_unix: [["https://x.invalid/a", "P"]],
  git_clone: [["https://x.invalid/a.git", "P"]],
  git_clone_subfolder: [["https://x.invalid/a.git", "a", "P"]],
  zip_unix: [
    ["P", "out.zip"],
    ["in", "P"],
  ],
  unzip_unix: [["P"], ["in.zip", "P"]],
  tar_unix: [
    ["P", "out.tgz"],
    ["in", "P"],
  ],
  untar_unix: [["P"], ["in.tgz", "P"]],
  diff_unix: [
    ["P", "in"],
    ["in", "P"],
    ["in", "in", "P"],
  ],
  sed_string_replace: [
    ["s/a/b/", "P", "out"],
    ["s/a/b/", "in", "P"],
  ],
  sed_regex_replace: [
    ["s/a/b/", "P", "out"],
    ["s/a/b/", "in", "P"],
  ],
  zip_dir: [
    ["P", "out.zip"],
    ["in", "P"],
  ],
  unzip_dir: [
    ["P", "out"],
    ["in.zip", "P"],
  ],
  extract_to: [
    ["P", "out"],
    ["in.zip", "P"],
  ],
  extract_diff: [
    ["P", "in"],
    ["in", "P"],
  ],
  save_content: [["pwned", "P"]],
  jsonl_to_csv: [
    ["P", "out"],
    ["in.jsonl", "P"],
  ],
  csv_to_jsonl: [
    ["P", "out"],
    ["in.csv", "P"],
  ],
  nmap_to_jsonl: [
    ["P", "out"],
    ["in.gnmap", "P"],
  ],
  run_nmap: [["10.0.0.1", "-sV", "P"]],
  jsonl_unique: [
    ["P", "out", "a"],
    ["in.jsonl", "P", "a"],
  ],
  jsonl_filter: [
    ["P", "out", "a"],
    ["in.jsonl", "P", "a"],
  ],
  jsonl_rename_key: [
    ["P", "out", "a:b"],
    ["in.jsonl", "P", "a:b"],
  ],
  interesting_urls: [
    ["P", "out"],
    ["in", "P"],
  ],
  parse_url_file: [
    ["P", "%d", "out"],
    ["in", "%d", "P"],
  ],
  render_markdown_from_file: [["P"]],
  print_markdown_from_file: [["P"]],
  convert_jsonl_to_markdown: [
    ["P", "out"],
    ["in.jsonl", "P"],
  ],
  convert_csv_to_markdown: [["P"]],
  render_markdown_report: [["P", "out"]],
  generate_security_report: [["P"]],
  convert_sarif_to_markdown: [
    ["P", "out"],
    ["in", "P"],
  ],
  is_file: [["P"]],
  is_dir: [["P"]],
  is_git: [["P"]],
  detect_language: [["P"]],
  db_vuln_critical: [["P"]],
  db_vuln_high: [["P"]],
  db_vuln_medium: [["P"]],
  db_vuln_low: [["P"]],
  db_total_urls: [["P"]],
  db_total_subdomains: [["P"]],
  db_total_assets: [["P"]],
  db_total_vulns: [["P"]],
  db_total_ips: [["P"]],
  db_total_links: [["P"]],
  db_total_content: [["P"]],
  db_total_archive: [["P"]],
  register_artifact: [["P"]],
  store_artifact: [["P"]],
  db_import_custom_asset: [["w", "P"]],
  db_import_port_assets: [["w", "P"]],
  db_import_vigolium: [["w", "P"]],
  db_import_asset_from_file: [["w", "P"]],
  db_import_vuln_from_file: [["w", "P"]],
  db_import_dns_asset: [["w", "P"]],
  db_import_sarif: [["w", "P"]],
  db_asset_diff_to_file: [["w", "P"]],
  db_vuln_diff_to_file: [["w", "P"]],
  snapshot_export: [["w", "P"]],
  snapshot_import: [["P"]],
  db_partial_import_asset_file: [["w", "domain", "P"]],
};

const FAILURES: readonly unknown[] = [false, 0, "", null];

/** Counting functions return 0. */
const isFailure = (value: unknown): boolean =>
  FAILURES.includes(value) ||
  (typeof value === "object" && value !== null && Object.values(value).every((count) => count === 0));

let context: TestContext;
let outside: string;
beforeEach(() => {
  context = testContext();
  outside = `${context.cwd}-outside`;
  mkdirSync(outside);
  writeFileSync(join(outside, "secret"), "top secret\n");
  symlinkSync(outside, join(context.cwd, "link"));
  writeFileSync(join(context.cwd, "in"), "https://a.example/in\n");
  writeFileSync(join(context.cwd, "in.jsonl"), '{"a":1}\n');
  writeFileSync(join(context.cwd, "in.csv"), "a\n1\n");
  writeFileSync(join(context.cwd, "in.gnmap"), "Host: 10.0.0.1 ()\tPorts: 80/open/tcp//http///\n");
});
afterEach(() => {
  context.remove();
  rmSync(outside, { recursive: true, force: true });
});

describe("rejects a path that leads out of the workspace", () => {
  test.each(Object.entries(PATHS))("%s", async (name, calls) => {
    for (const path of OUTSIDE(join(outside, "secret"))) {
      for (const call of calls ?? []) {
        const args = call.map((arg) => (arg === "P" ? path : arg));
        let value: unknown;
        try {
          value = await context.prepared(name as FunctionName, ...args);
        } catch (error) {
          expect((error as Error).name).toBe("ScriptError");
          continue;
        }
        if (Array.isArray(value)) expect([args, value]).toEqual([args, []]);
        else expect([args, isFailure(value)]).toEqual([args, true]);
      }
    }
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("top secret\n");
    expect(readdirSync(outside)).toEqual(["secret"]);
    expect(existsSync("/etc/passwd")).toBe(true);
    for (const entry of ["out", "out.zip", "out.tgz"].filter((file) => existsSync(join(context.cwd, file))))
      expect(readFileSync(join(context.cwd, entry)).includes("top secret")).toBe(false);
  });
});

test.each([
  ["file_exists", false],
  ["file_length", 0],
  ["dir_length", 0],
  ["file_contains", false],
  ["glob", []],
  ["is_git", false],
  ["detect_language", ""],
])("%s treats a path outside the allowed folders as missing", (name, missing) => {
  const paths = [join(outside, "secret"), outside, "link", "link/secret", "/etc/passwd", "/", "../x"];
  symlinkSync("/nowhere", join(context.cwd, "dangling"));
  for (const path of [...paths, "dangling"]) {
    if (name === "glob" && path === "link") continue;
    expect([path, context.call(name as FunctionName, path, "secret")]).toEqual([path, missing]);
  }
});

test.each(["read_file", "read_lines", "regex_extract", "append_file", "remove_file", "create_folder"])(
  "%s throws in the script for a path outside the allowed folders",
  (name) => {
    expect(() => context.call(name as FunctionName, join(outside, "secret"), "secret/x")).toThrow(
      /FUNCTION_FOLDERS|outside/,
    );
  },
);

test("covers every function with a path", () => {
  const taking = Object.entries(functions)
    .filter(([, { unavailable, params }]) => {
      const words = ["path", "source", "dest", "input", "output", "folder", "old_file", "template"];
      return unavailable !== true && params.some((param) => words.includes(param.replace(/\?$/, "")));
    })
    .map(([name]) => name)
    .filter((name) => WORKSPACE_FUNCTIONS.has(name));
  expect(taking.filter((name) => !Object.hasOwn(PATHS, name))).toEqual([]);
  expect(callables.has("readFile")).toBe(true);
});

test("allows an additional folder, and no folder beside it", () => {
  const wider = { ...context, folders: [outside] };
  expect(callables.get("read_file")?.run([join(outside, "secret")], wider)).toBe("top secret\n");
  expect(() => callables.get("read_file")?.run([`${outside}-else/x`], wider)).toThrow("FUNCTION_FOLDERS");
});
