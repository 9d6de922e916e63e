import { expect, it } from "vitest";
import { graphOf } from "./graph-layout.ts";
import { outlineOf } from "./outline.ts";

const steps = (yaml: string) => outlineOf(yaml).steps;

it("connects steps by what they declare", () => {
  const text = "steps:\n  - {name: a}\n  - {name: b, depends_on: [a, gone]}\n  - {name: c, depends_on: a}\n";
  expect(graphOf(steps(text), false)).toEqual({
    nodes: ["a", "b", "c"],
    edges: [
      { from: "a", to: "b" },
      { from: "a", to: "c" },
    ],
  });
});

it("runs steps one after the other if none declares anything, and modules at once", () => {
  const text = "steps:\n  - {name: a}\n  - {name: b, type: foreach, step: {name: inner}}\n";
  expect(graphOf(steps(text), false)).toEqual({ nodes: ["a", "b"], edges: [{ from: "a", to: "b" }] });
  expect(graphOf(steps("modules:\n  - {name: a}\n  - {name: b}\n"), true).edges).toEqual([]);
});
