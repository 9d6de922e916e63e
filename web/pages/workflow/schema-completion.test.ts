import { expect, it } from "vitest";
import schema from "../../../examples/workflow.schema.json" with { type: "json" };
import { propose, type Schema } from "./schema-completion.ts";

/** The labels at the end of a text, or at `|` in it. */
function labelsAt(text: string): string[] | undefined {
  const [before = "", after = ""] = text.split("|");
  return propose(schema as unknown as Schema, before.split("\n"), after.split("\n").slice(1))?.proposals.map(
    ({ label }) => label,
  );
}

it("proposes the fields of a workflow that it does not have", () => {
  const labels = labelsAt("name: a\nde");
  expect(labels).toEqual(expect.arrayContaining(["description", "steps", "triggers", "params"]));
  expect(labels).not.toContain("name");
});

it("proposes the types of steps", () => {
  expect(labelsAt("steps:\n  - name: a\n    type: ")).toEqual(
    expect.arrayContaining(["bash", "function", "http", "llm", "foreach", "parallel-steps", "remote-bash"]),
  );
});

it.each([
  ["steps:\n  - name: a\n    type: http\n    ", ["url", "method"], ["command", "type"]],
  ["steps:\n  - name: a\n    |\n    type: bash\n  - name: b\n", ["command"], ["url", "name"]],
  ["steps:\n- name: a\n  type: bash\n  ", ["command"], ["url"]],
  ["steps:\n  - name: a\n    type: foreach\n    step:\n      type: http\n      ", ["url"], ["command"]],
  ["triggers:\n  - type: cron\n    ", ["schedule", "timezone"], ["steps"]],
  ["steps:\n  - ", ["name", "type"], ["triggers"]],
  ["params:\n  - name: a\n  - ", ["name", "default"], ["url"]],
])("proposes the fields of the place: %j", (text, some, none) => {
  const labels = labelsAt(text);
  expect(labels).toEqual(expect.arrayContaining(some));
  for (const label of none) expect(labels).not.toContain(label);
});

it("proposes the values of a field", () => {
  expect(labelsAt("triggers:\n  - type: ")).toEqual(["cron", "event", "watch", "manual", "webhook"]);
  expect(labelsAt("kind: ")).toEqual(["module", "flow"]);
});

it("proposes nothing inside a text", () => {
  expect(labelsAt("description: a text")).toBeUndefined();
  expect(labelsAt("steps:\n  - name: a\n    type: bash\n    command: >-\n      x")).toBeUndefined();
});
