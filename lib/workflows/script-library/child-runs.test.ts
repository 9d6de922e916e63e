import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestContext, testContext } from "./test-context.ts";

let context: TestContext;
beforeEach(() => {
  context = testContext();
});
afterEach(() => context.remove());

describe("run_module and run_flow", () => {
  it.each([
    ["run_module", [" child ", "a.example"], { module: "child", target: "a.example", params: {} }],
    ["run_flow", ["both", "", { n: 5 }], { flow: "both", target: "", params: { n: 5 } }],
    ["run_module", ["c", "t", '{"n": true}'], { module: "c", target: "t", params: { n: true } }],
    [
      "run_module",
      ["c", "t", "a=1, b=x=y,\nc="],
      { module: "c", target: "t", params: { a: "1", b: "x=y", c: "" } },
    ],
  ] as const)("%s%j sends its arguments to the host and returns the id", (name, args, input) => {
    context.replies.push({ records: [{ run_id: "r-1" }], total: 1 });
    expect(context.call(name, ...args)).toBe("r-1");
    expect(context.questions).toEqual([{ what: "run", input }]);
  });

  it("throw errors that the script can catch", () => {
    expect(() => context.call("run_module", "", "t")).toThrow(
      "run_module: the name of the module is required",
    );
    expect(() => context.call("run_flow", "f", "t", "no pair")).toThrow("run_flow: params must be");
    expect(() => context.call("run_flow", "f", "t", "{broken")).toThrow("run_flow: ");
    expect(context.questions).toEqual([]);
    context.replies.push({ error: "Workflow not found" });
    expect(() => context.call("run_flow", "f", "t")).toThrow("run_flow: Workflow not found");
    expect(() => context.call("run_flow", "f", "t")).toThrow("run_flow: nobody answers");
  });
});

describe("records that are written immediately", () => {
  it("are sent with their arguments, and return the documented values", () => {
    for (const _one of ["asset", "field", "field"]) context.replies.push({ records: [{ id: 7 }], total: 1 });
    expect(context.call("db_raw_insert_asset", "w", '{"host": "a"}')).toBe(7);
    expect(context.call("db_update", "Vulns", 12, "severity", "low")).toBe(true);
    expect(context.call("db_update", "asset", "a", "ports", [1])).toBe(true);
    expect(context.questions.map(({ what, input }) => [what, input])).toEqual([
      ["write", { of: "new asset", workspace: "w", data: { host: "a" } }],
      ["write", { of: "new value", table: "vulnerabilities", key: "12", field: "severity", value: "low" }],
      ["write", { of: "new value", table: "assets", key: "a", field: "ports", value: [1] }],
    ]);
  });

  it("throw if the host rejects them, and warn if the host is unavailable", () => {
    context.replies.push({ error: "field: id is what" });
    expect(() => context.call("db_update", "assets", "a", "id", 1)).toThrow("field: id is what");
    expect(context.call("db_update", "assets", "a", "title", "x")).toBe(false);
    expect(context.call("db_raw_insert_asset", "w", "no JSON")).toBe(0);
    expect(context.logs).toHaveLength(2);
  });
});
