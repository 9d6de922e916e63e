import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestContext, testContext } from "./test-context.ts";

let context: TestContext;
beforeEach(() => {
  context = testContext();
});
afterEach(() => context.remove());

const ASSETS = [
  { asset_value: "b.example", asset_type: "domain", status_code: 200, title: "B | b" },
  { asset_value: "a.example", asset_type: "domain", extra: 1 },
];
const answered = (records: readonly unknown[], total = records.length) =>
  context.replies.push({ records, total });

describe("records", () => {
  it("are returned as a table, JSON lines or JSON", () => {
    for (let times = 0; times < 4; times += 1) answered(ASSETS);
    const table = String(context.call("db_select_assets", "w", "md")).split("\n");
    expect(table).toHaveLength(4);
    expect(table[0]).toContain("| asset_value | asset_type | status_code |");
    expect(table[2]).toContain("B \\| b");
    expect(context.call("db_select_assets", "w", "jsonl")).toBe(
      ASSETS.map((one) => JSON.stringify(one)).join("\n"),
    );
    expect(JSON.parse(String(context.call("db_select_assets", "w", "json")))).toEqual(ASSETS);
    expect(context.call("db_select_assets", "w", "xml")).toBe("");
    expect(context.logs).toContainEqual(expect.stringMatching(/md, jsonl or json/));
    expect(context.questions[0]).toEqual({ what: "records", input: { of: "assets", workspace: "w" } });
  });

  it.each([
    [
      "db_select_assets_filtered",
      ["w", 200, "domain", "jsonl"],
      { of: "assets", workspace: "w", status_code: "200", asset_type: "domain" },
    ],
    [
      "db_select_vulnerabilities_filtered",
      ["", "high", "a.", "jsonl"],
      { of: "vulnerabilities", workspace: "", severity: "high", asset_value: "a." },
    ],
    ["db_select_vulnerabilities", ["w"], { of: "vulnerabilities", workspace: "w" }],
    ["run_status", ["w"], { of: "runs", workspace: "w" }],
    ["run_status_by_uuid", ["r-1", "json"], { of: "run", run: "r-1" }],
    ["db_asset_diff", ["w"], { of: "asset diff", workspace: "w" }],
    ["db_vuln_diff", [""], { of: "vulnerability diff", workspace: "" }],
    ["db_select_total_urls", [], { of: "totals" }],
  ] as const)("%s sends its arguments to the host", (name, args, query) => {
    answered([]);
    context.call(name, ...args);
    expect(context.questions).toEqual([{ what: "records", input: query }]);
  });

  it("are counted for the run's own workspace, with 0 if there are none", () => {
    answered([{ total_assets: 7, vuln_high: 2 }]);
    answered([{ total_assets: 7, vuln_high: 2 }]);
    answered([]);
    expect(context.call("db_select_total_assets")).toBe(7);
    expect(context.call("db_select_vuln_high")).toBe(2);
    expect(context.call("db_select_vuln_low")).toBe(0);
  });

  it("produce a warning if they exceed one result", () => {
    answered(ASSETS, 20_000);
    context.call("db_select_assets", "w", "jsonl");
    expect(context.logs).toEqual([expect.stringMatching(/^warn .*newest 2 of 20000/)]);
  });

  it("are empty with a warning if the host is unavailable; an invalid query throws", () => {
    expect(context.call("db_select_assets", "w")).toBe("");
    expect(context.call("db_select_total_assets")).toBe(0);
    context.replies.push({ error: "workspace: Too long" });
    expect(() => context.call("db_select_assets", "w")).toThrow("Too long");
  });

  it("are written to files: changes, and the state of the run", () => {
    answered([{ change: "added", asset_value: "a" }]);
    expect(context.call("db_asset_diff_to_file", "w", "out/diff.jsonl")).toBe(true);
    expect(readFileSync(join(context.cwd, "out/diff.jsonl"), "utf8")).toBe(
      '{"change":"added","asset_value":"a"}\n',
    );
    answered([{ run_uuid: "r" }]);
    answered([]);
    expect(context.call("runtime_export")).toBe(true);
    expect(JSON.parse(readFileSync(join(context.cwd, "run-state.json"), "utf8"))).toEqual({
      run: { run_uuid: "r" },
      workspace: null,
    });
    const asked = context.questions.length;
    expect(() => context.call("db_vuln_diff_to_file", "w", "../../../etc/x")).toThrow(/outside/);
    expect(context.questions).toHaveLength(asked);
  });

  it("that cannot be read leave the file unchanged", () => {
    writeFileSync(join(context.cwd, "kept"), "before");
    expect(context.call("db_asset_diff_to_file", "w", "kept")).toBe(false);
    expect(readFileSync(join(context.cwd, "kept"), "utf8")).toBe("before");
  });
});

describe("a notification", () => {
  it("is a text, or an event with data", () => {
    context.replies.push(true, true);
    expect(context.call("notify_webhook", "3 hosts")).toBe(true);
    expect(context.call("send_webhook_event", "scan.done", '{"hosts":3,"message":"done"}')).toBe(true);
    expect(context.questions.map(({ input }) => input)).toEqual([
      { event: "notification", text: "3 hosts" },
      { event: "scan.done", text: "done", data: { hosts: 3, message: "done" } },
    ]);
  });

  it("is not sent if it is too long or has no type", () => {
    expect(() => context.call("notify_webhook", "x".repeat(200_000))).toThrow(/at most/);
    expect(context.call("send_webhook_event", " ", {})).toBe(false);
    expect(context.questions).toEqual([]);
  });
});

it("a language model receives a text, a configuration, or a conversation", () => {
  context.replies.push("one", "two", "three");
  expect(context.call("llm_invoke", "hello")).toBe("one");
  expect(
    context.call(
      "llm_invoke_custom",
      "and?",
      '{"model":"x","messages":[{"role":"system","content":"be brief"}]}',
    ),
  ).toBe("two");
  expect(context.call("llm_conversations", "system:be brief", "User: hi", "", "http://x")).toBe("three");
  expect(context.questions.map(({ what, input }) => [what, input])).toEqual([
    ["llm", { messages: [{ role: "user", content: "hello" }], config: {} }],
    [
      "llm",
      {
        messages: [
          { role: "system", content: "be brief" },
          { role: "user", content: "and?" },
        ],
        config: { model: "x" },
      },
    ],
    [
      "llm",
      {
        messages: [
          { role: "system", content: "be brief" },
          { role: "user", content: "hi" },
          { role: "user", content: "http://x" },
        ],
        config: {},
      },
    ],
  ]);
  expect(["llm_invoke", "llm_conversations"].map((name) => context.call(name as "llm_invoke", " "))).toEqual([
    "",
    "",
  ]);
  expect(context.call("llm_invoke_custom", "x", "{")).toBe("");
});

it("a command for another host requires a host and a command", () => {
  expect(context.call("ssh_exec", "", "id")).toBe("");
  expect(context.questions).toEqual([]);
  context.replies.push("root");
  expect(context.call("ssh_exec", "h", "whoami", "u", "k", "", 2222)).toBe("root");
  expect(context.questions[0]).toEqual({
    what: "ssh",
    input: { host: "h", command: "whoami", user: "u", key_path: "k", password: "", port: "2222" },
  });
});
