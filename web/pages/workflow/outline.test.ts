import { expect, it } from "vitest";
import { outlineOf } from "./outline.ts";
import { stepAt } from "./outline-steps.ts";

const TEXT = `name: nightly
steps:
  - name: report
    type: function
    depends_on: [scan]
    function: x
  - name: scan
    type: foreach
    input: hosts
    step:
      name: one
      type: bash
      command: echo
  - name: clean
    type: bash
    depends_on: report
`;

it("lists steps with their lines, dependencies first", () => {
  const outline = outlineOf(TEXT);
  expect(outline.name).toBe("nightly");
  expect(outline.steps.map(({ name, depth, from }) => [name, depth, from])).toEqual([
    ["scan", 0, 7],
    ["one", 1, 11],
    ["report", 0, 3],
    ["clean", 0, 14],
  ]);
  expect(outline.steps[3]).toMatchObject({ type: "bash", dependsOn: ["report"] });
});

it("finds the innermost step of a line", () => {
  const outline = outlineOf(TEXT);
  expect([1, 5, 9, 12, 15].map((line) => stepAt(outline, line)?.name)).toEqual([
    undefined,
    "report",
    "scan",
    "one",
    "clean",
  ]);
});

it("lists the modules of a flow", () => {
  const text = "kind: flow\nmodules:\n  - name: b\n    depends_on: [a]\n  - name: a\n";
  expect(outlineOf(text).steps.map(({ name }) => name)).toEqual(["a", "b"]);
});

it.each([
  ["empty", "", 0],
  ["no map", "- a", 0],
  ["unfinished", "name: a\nsteps:\n  - name: x\n    type: [bas\n  - ", 1],
  ["a circle", "steps:\n  - {name: a, depends_on: [b]}\n  - {name: b, depends_on: [a]}\n", 2],
  ["of other types", "name: [1]\nsteps:\n  - 1\n  - {name: {}, depends_on: {a: 1}}\n", 1],
])("reads a text that is %s", (_name, text, count) => {
  expect(outlineOf(text).steps).toHaveLength(count);
});
