import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventPattern } from "../bus.ts";
import { compilePattern } from "./patterns.ts";

const event = {
  source: "weft.commands",
  "detail-type": "step.requested",
  resources: [],
  detail: {
    type: "bash",
    tags: ["red", "blue"],
    count: 5,
    nothing: null,
    empty: "",
    flag: true,
    run: {
      name: "Nightly.Report",
      steps: [
        { kind: "a", n: 1 },
        { kind: "b", n: 2 },
      ],
    },
  },
};

describe("event patterns", () => {
  it.each<[EventPattern, boolean]>([
    [{ source: ["weft.commands"] }, true],
    [{ source: ["other", "weft.commands"] }, true],
    [{ source: ["weft"] }, false],
    [{ source: ["weft.commands"], "detail-type": ["other"] }, false],
    [{ detail: { type: ["bash"], count: [5] } }, true],
    [{ detail: { count: ["5"] } }, false],
    [{ detail: { tags: ["blue", "green"] } }, true],
    [{ detail: { tags: ["green"] } }, false],
    [{ detail: { tags: [{ "anything-but": ["red"] }] } }, true],
    [{ detail: { tags: [{ "anything-but": ["red", "blue"] }] } }, false],
    [{ detail: { nothing: [null] } }, true],
    [{ detail: { nothing: [""] } }, false],
    [{ detail: { empty: [""] } }, true],
    [{ detail: { empty: [null] } }, false],
    [{ detail: { flag: [true] } }, true],
    [{ detail: { flag: ["true"] } }, false],
    [{ source: [{ prefix: "weft." }] }, true],
    [{ source: [{ suffix: ".events" }] }, false],
    [{ source: [{ suffix: ".commands" }] }, true],
    [{ detail: { count: [{ prefix: "5" }] } }, false],
    [{ detail: { run: { name: [{ "equals-ignore-case": "nightly.report" }] } } }, true],
    [{ detail: { type: [{ exists: true }] } }, true],
    [{ detail: { type: [{ exists: false }] } }, false],
    [{ detail: { gone: [{ exists: false }] } }, true],
    [{ detail: { gone: [{ exists: true }] } }, false],
    [{ detail: { gone: ["x", { exists: false }] } }, true],
    [{ detail: { run: [{ exists: true }] } }, false],
    [{ resources: [{ exists: true }] }, false],
    [{ detail: { gone: { deeper: [{ exists: false }] } } }, true],
    [{ detail: { gone: { deeper: ["x"] } } }, false],
    [{ detail: { type: { deeper: ["x"] } } }, false],
    [{ detail: { nothing: [{ exists: true }] } }, true],
    [{ detail: { type: [{ "anything-but": "http" }] } }, true],
    [{ detail: { type: [{ "anything-but": "bash" }] } }, false],
    [{ detail: { gone: [{ "anything-but": "bash" }] } }, false],
    [{ detail: { count: [{ "anything-but": [4, 6] }] } }, true],
    [{ detail: { count: [{ numeric: [">", 4, "<=", 5] }] } }, true],
    [{ detail: { count: [{ numeric: ["=", 4] }] } }, false],
    [{ detail: { type: [{ numeric: [">", 0] }] } }, false],
    [{ detail: { run: { steps: { kind: ["a"], n: [1] } } } }, true],
    [{ detail: { run: { steps: { kind: ["a"], n: [2] } } } }, false],
    [{ "detail-type": [{ wildcard: "step.*" }] }, true],
    [{ "detail-type": [{ wildcard: "*.re*sted" }] }, true],
    [{ "detail-type": [{ wildcard: "*" }] }, true],
    [{ "detail-type": [{ wildcard: "step.*.x" }] }, false],
    [{ "detail-type": [{ wildcard: "step.requested*requested" }] }, false],
    [{ detail: { ["__proto__"]: { x: [1] } } }, false],
    [{ detail: { constructor: [{ exists: true }] } }, false],
  ])("%j matches: %j", (pattern, matches) => {
    expect(compilePattern(pattern)(event)).toBe(matches);
  });

  it.each<[unknown, RegExp]>([
    [{}, /empty/],
    [{ source: [] }, /"source".*empty/],
    [{ source: "x" }, /"source"/],
    [{ detail: { a: [{ cidr: "10.0.0.0/8" }] } }, /"detail.a".*unknown operator "cidr"/],
    [{ detail: { a: [{ prefix: 5 }] } }, /string/],
    [{ detail: { a: [{ numeric: [">"] }] } }, /numeric/],
    [{ detail: { a: [{ numeric: ["toString", 1] }] } }, /numeric/],
    [{ detail: { a: [{ prefix: "a", suffix: "b" }] } }, /one operator/],
    [{ detail: { a: [{ wildcard: "a**b" }] } }, /consecutive asterisks/],
    [{ detail: { a: [{ wildcard: "a\\b" }] } }, /invalid escape/],
  ])("refuses %j", (pattern, message) => {
    expect(() => compilePattern(pattern as EventPattern)).toThrow(message);
  });

  it("matches wildcards like a regular expression with `.*` for each star", () => {
    const piece = fc.constantFrom("a", "b", "*", "\\*", "\\\\");
    const pattern = fc
      .array(piece, { maxLength: 8 })
      .filter((pieces) => pieces.every((part, at) => part !== "*" || pieces[at + 1] !== "*"));
    const value = fc
      .array(fc.constantFrom("a", "b", "*", "\\"), { maxLength: 10 })
      .map((parts) => parts.join(""));
    void fc.assert(
      fc.property(pattern, value, (pieces, field) => {
        const expression = pieces.map((part) => (part === "*" ? "[^]*" : part)).join("");
        const expected = new RegExp(`^${expression}$`).test(field);
        expect(compilePattern({ field: [{ wildcard: pieces.join("") }] })({ field })).toBe(expected);
      }),
    );
  });

  it("runs in linear time where backtracking would not end", () => {
    const matches = compilePattern({ field: [{ wildcard: `${"*a".repeat(30)}*b` }] });
    const start = process.cpuUsage().user;
    expect(matches({ field: "a".repeat(100_000) })).toBe(false);
    expect(process.cpuUsage().user - start).toBeLessThan(200_000);
  });
});
