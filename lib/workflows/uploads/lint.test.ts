import { describe, expect, it } from "vitest";
import { parseDefinition } from "../schema/parse.ts";
import { lintDefinition } from "./lint.ts";

function findings(yaml: string): string[] {
  const parsed = parseDefinition(yaml);
  if (!parsed.ok) throw new Error(parsed.errors[0]?.message);
  return lintDefinition(parsed.definition);
}

describe("the lint of a workflow", () => {
  it("reports nothing for valid templates", () => {
    expect(
      findings(
        'name: w\nparams: [{name: x}, {name: y}]\nsteps: [{name: s, type: bash, command: "echo {{Target}} \'{{x}}\'", log: "{{y}}"}]',
      ),
    ).toEqual([]);
  });

  it("reports the step and field of a template that does not parse, including nested ones", () => {
    const yaml = `
name: w
steps:
  - {name: a, type: bash, command: "echo {{Target"}
  - name: b
    type: foreach
    input: [x]
    variable: x
    step: {name: inner, type: http, url: "http://{{ | }}/"}
`;
    expect(findings(`${yaml}reports: [{path: ok.txt}, {path: "{{Target"}]\n`)).toEqual([
      expect.stringMatching(/^a\.command: /),
      expect.stringMatching(/^inner\.url: /),
      expect.stringMatching(/^reports\[1\]: /),
    ]);
  });

  it("warns of values that jq would read as its program and of | raw, except for the file's own text", () => {
    const command = "jq '.{{Target}}' f; jq '.{{tool}}' f; {{x | raw}}";
    const yaml = `name: w\nparams: [{name: tool, default: ls}, {name: x}]\nsteps: [{name: s, type: bash, command: ${JSON.stringify(command)}}]`;
    const found = findings(yaml);
    expect(found).toHaveLength(2);
    expect(found.every((line) => line.startsWith("s.command: "))).toBe(true);
  });
});
