import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { runValues } from "../../testing/test-workflows.ts";
import { variableName } from "../expressions/variable-names.ts";
import { numberSequence } from "../lists/number-sequence.ts";
import { BASE_VALUES, type BaseValues, storeValue, valueWrite } from "./stored-values.ts";

let test: TestDeps;

beforeEach(async () => {
  test = await testDeps();
});

afterEach(() => test.close());

const keep = async (name: string, value: unknown, inlineBytes?: number): Promise<void> => {
  await test.deps.tables.write([
    valueWrite("run", name, await storeValue(test.deps, "run", value, inlineBytes)),
  ]);
};

describe("values of a run", () => {
  it.each([
    ["text", "x"],
    ["a number", 0],
    ["nothing", null],
    ["an object", { a: [1, { b: null }] }],
    ["long text", "x".repeat(100_000)],
    ["long wide text", "😀".repeat(20_000)],
  ])("are returned unchanged: %s", async (_name, value) => {
    await keep("v", value);
    expect((await runValues(test.deps, "run", ["v"])).values).toEqual({ v: value });
  });

  it("are stored in blobs if they are large, or do not fit into the message", async () => {
    await keep("small", "x");
    await keep("large", "x".repeat(40_000));
    await keep("unlucky", "xxxx", 3);
    expect(await test.deps.blobs.list("runs/run/values/")).toHaveLength(2);
    expect((await runValues(test.deps, "run", ["unlucky"])).values).toEqual({ unlucky: "xxxx" });
  });

  it("are omitted if they were not set, and null if they were set to undefined", async () => {
    await keep("v", undefined);
    const { values } = await runValues(test.deps, "run", ["v", "w", "toString", "__proto__"]);
    expect(Object.entries(values)).toEqual([["v", null]]);
    expect(values.toString).toBeUndefined();
  });

  it("override the run's parameters, and their trust", async () => {
    const base: BaseValues = { values: { a: "file", b: "file", c: "outside" }, trusted: ["a", "b"] };
    await keep(BASE_VALUES, base);
    await keep("a", "from a step");
    const { values, trusted } = await runValues(test.deps, "run", ["a"]);
    expect(values).toEqual({ a: "from a step", b: "file", c: "outside" });
    expect([...trusted]).toEqual(["b"]);
  });

  it("belong to their run only", async () => {
    await keep("v", "mine");
    expect((await runValues(test.deps, "another", ["v"])).values).toEqual({});
  });
});

it.each([
  ["scan-ports", "scan_ports"],
  ["a.b c", "a_b_c"],
  ["ok_1", "ok_1"],
])("%s is named %s in templates", (step, name) => {
  expect(variableName(step)).toBe(name);
});

describe("numbers", () => {
  it("are unique, also with concurrent calls and two counters of one name", async () => {
    const one = numberSequence(test.deps, "c");
    const other = numberSequence(test.deps, "c");
    const numbers = await Promise.all(
      Array.from({ length: 240 }, (_, n) => (n % 3 === 0 ? other : one).next()),
    );
    expect(new Set(numbers).size).toBe(240);
    expect(Math.min(...numbers)).toBe(1);
  });

  it("start at 1 for every name, and continue after a restart", async () => {
    expect(await numberSequence(test.deps, "a").next()).toBe(1);
    expect(await numberSequence(test.deps, "b").next()).toBe(1);
    expect(await numberSequence(test.deps, "a").next()).toBeGreaterThan(1);
  });

  it("are available again after a fault", async () => {
    let fail = true;
    const { tables } = test.deps;
    const flaky = numberSequence(
      {
        tables: {
          ...tables,
          update: (...args) => (fail ? Promise.reject(new Error("no")) : tables.update(...args)),
        } as typeof tables,
      },
      "c",
    );
    await expect(Promise.all([flaky.next(), flaky.next()])).rejects.toThrow("no");
    fail = false;
    expect(await flaky.next()).toBe(1);
  });
});
