import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestContext, testContext } from "./test-context.ts";

let context: TestContext;
beforeEach(() => {
  context = testContext();
});
afterEach(() => context.remove());

const file = (name: string, ...lines: readonly unknown[]): string => {
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  writeFileSync(join(context.cwd, name), text);
  return name;
};
const told = () =>
  context.events.map(({ effect, workspace, source, data }) => ({ effect, workspace, source, data }));

const NUCLEI = {
  "template-id": "t",
  info: { name: "Bad", severity: "critical" },
  host: "a.example",
  "matched-at": "https://a.example/",
};

describe("assets", () => {
  it.each([
    [
      "db_import_asset",
      ["w", { url: "https://a.example", title: "A" }],
      { url: "https://a.example", title: "A" },
    ],
    ["db_import_asset", ["w", '{"host":"a"}'], { host: "a" }],
    ["db_quick_import_asset", ["w", "a.example"], { asset_value: "a.example", asset_type: "" }],
    ["db_partial_import_asset", ["w", "domain", "a"], { asset_type: "domain", asset_value: "a" }],
  ] as const)("%s emits one record", (name, args, data) => {
    expect(context.call(name, ...args)).toBe(true);
    expect(told()).toEqual([{ effect: "asset", workspace: "w", source: "", data }]);
  });

  it.each([
    ["no JSON", "{"],
    ["no name", { title: "x" }],
    ["a list", []],
    ["nothing", null],
  ])("%s is skipped without an error", (_name, json) => {
    expect(context.call("db_import_asset", "w", json)).toBe(false);
    expect(told()).toEqual([]);
  });

  it("are read from files of httpx and nuclei, skipping invalid lines", () => {
    const httpx = file("h", { url: "https://a.example", status_code: 200, input: "a" }, "{broken", "");
    expect(context.call("db_import_asset_from_file", "w", httpx)).toBe(1);
    expect(context.call("db_import_asset_from_file", "w", file("n", NUCLEI))).toBe(1);
    expect(told()).toMatchObject([
      { source: "httpx", data: { url: "https://a.example", status_code: 200 } },
      { effect: "asset", source: "nuclei", data: { asset_value: "a.example" } },
    ]);
    expect(context.call("db_import_asset_from_file", "w", "none")).toBe(0);
  });

  it("are read from lists of a type, and from generic JSONL", () => {
    expect(context.call("db_partial_import_asset_file", "w", "domain", file("l", "a", "# no", "b"))).toBe(2);
    const custom = file("c", { host: "c", color: "red" }, { color: "blue" });
    expect(context.call("db_import_custom_asset", "w", custom, "service", "mine")).toMatchObject({
      total: 2,
      imported: 1,
      skipped: 1,
    });
    expect(told().map(({ data, source }) => [data, source])).toEqual([
      [{ asset_value: "a", asset_type: "domain" }, ""],
      [{ asset_value: "b", asset_type: "domain" }, ""],
      [{ host: "c", color: "red", asset_type: "service" }, "mine"],
    ]);
  });

  it("are read with their DNS records and ports, one asset per host", () => {
    const zone = file(
      "z",
      "a.example. 300 IN A 10.0.0.1",
      "; remark A x",
      "a.example. 300 IN MX 10 m.example.",
      "b [CNAME] [a]",
    );
    expect(context.call("db_import_dns_asset", "w", zone)).toBe(2);
    const ports = file(
      "p",
      { ip: "10.0.0.1", port: 443 },
      { ip: "10.0.0.1", port: 53, protocol: "udp" },
      { ip: "x", port: 0 },
    );
    expect(context.call("db_import_port_assets", "w", ports, "naabu")).toMatchObject({
      total: 3,
      skipped: 1,
    });
    expect(told().map(({ data }) => data)).toEqual([
      { asset_value: "a.example", dns_records: ["A 10.0.0.1", "MX 10 m.example."] },
      { asset_value: "b", dns_records: ["CNAME a"] },
      { asset_value: "10.0.0.1", asset_type: "ip", open_ports: ["443/tcp", "53/udp"] },
    ]);
  });
});

describe("vulnerabilities", () => {
  it("are read in the format of nuclei, or in their own", () => {
    expect(context.call("db_import_vuln", "w", NUCLEI)).toBe(true);
    expect(context.call("db_import_vuln", "w", { vuln_title: "Mine", severity: "low" })).toBe(true);
    expect(context.call("db_import_vuln", "w", { severity: "low" })).toBe(false);
    expect(context.call("db_import_vuln_from_file", "w", file("n", NUCLEI, "{}"))).toBe(1);
    expect(told()).toMatchObject([
      { effect: "vulnerability", source: "nuclei", data: { vuln_title: "Bad", severity: "critical" } },
      { effect: "vulnerability", source: "", data: { vuln_title: "Mine", severity: "low" } },
      { effect: "vulnerability", data: { vuln_info: "t", asset_value: "https://a.example/" } },
    ]);
  });

  it("are read from SARIF, by rule and location", () => {
    const sarif = {
      runs: [
        {
          tool: { driver: { name: "Lint", rules: [{ id: "R1", shortDescription: { text: "Rule one" } }] } },
          results: [
            {
              ruleId: "R1",
              level: "error",
              message: { text: "here" },
              locations: [
                { physicalLocation: { artifactLocation: { uri: "a.ts" }, region: { startLine: 7 } } },
              ],
            },
          ],
        },
      ],
    };
    expect(context.call("db_import_sarif", "w", file("s", sarif))).toEqual({
      total: 1,
      imported: 1,
      skipped: 0,
    });
    expect(told()).toMatchObject([
      {
        source: "lint",
        data: { vuln_title: "Rule one", vuln_desc: "here", severity: "high", asset_value: "a.ts:7" },
      },
    ]);
    expect(context.call("db_import_sarif", "w", "none")).toEqual({ total: 0, imported: 0, skipped: 0 });
  });

  it("are counted by severity", () => {
    file("n", NUCLEI, NUCLEI, { severity: "LOW" }, "{");
    expect(context.call("db_vuln_critical", "n")).toBe(2);
    expect(context.call("db_vuln_low", "n")).toBe(1);
    expect(context.call("db_vuln_high", "n")).toBe(0);
  });
});

it("totals count the lines that are not blank", () => {
  expect(context.call("db_total_urls", file("u", "a", "", " ", "b"))).toBe(2);
  expect(context.call("db_total_subdomains", file("e", ""))).toBe(0);
  expect(told()).toEqual([
    { effect: "totals", workspace: "", source: "", data: { counter: "urls", add: 2 } },
  ]);
});

describe("artifacts", () => {
  it("are files of the workspace, identified by their path", () => {
    mkdirSync(join(context.cwd, "out"));
    file("out/r.md", "one", "two");
    expect(context.call("register_artifact", "out/r.md", "report")).toBe(true);
    expect(context.call("store_artifact", join(context.cwd, "out"))).toBe(true);
    expect(context.call("register_artifact", "later.txt")).toBe(true);
    expect(told().map(({ data }) => data)).toEqual([
      { artifact_path: "out/r.md", artifact_type: "report", line_count: 2, size_bytes: 7, is_folder: false },
      { artifact_path: "out", artifact_type: "output", line_count: 0, size_bytes: 0, is_folder: true },
      { artifact_path: "later.txt", artifact_type: "output", line_count: 0, size_bytes: 0, is_folder: false },
    ]);
  });

  it.each(["", ".", "a\u0000b"])("reject %j, which is not a file of the workspace", (path) => {
    expect(context.call("register_artifact", path)).toBe(false);
    expect(told()).toEqual([]);
  });

  it.each(["../x", "/etc/passwd", "a/../../x", "link"])(
    "reject %j, which is outside the workspace",
    (path) => {
      symlinkSync("/etc/passwd", join(context.cwd, "link"));
      expect(() => context.call("register_artifact", path)).toThrow("outside of the workspace");
      expect(told()).toEqual([]);
    },
  );

  it("accept only known types", () => {
    expect(context.call("register_artifact", file("a", "x"), "secret")).toBe(false);
  });
});

it("an unavailable function explains why", () => {
  expect(() => context.call("db_select", "SELECT 1", "jsonl")).toThrow(
    "not available: there is no SQL database",
  );
  expect(() => context.call("db_reset_event_logs")).toThrow("not available: an event starts each");
});
