import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { allWorkflows } from "../store/store.ts";
import { validateResponse, validateWorkflow } from "./upload.ts";

let test: TestDeps;
beforeAll(async () => {
  test = await testDeps();
});
afterAll(() => test.close());

const validate = async (text: string, strict = false) =>
  validateResponse
    .strict()
    .parse(await validateWorkflow(test.deps, { text, contentType: "application/yaml" }, strict));

describe("validation", () => {
  it("reports every problem with its position, and stores nothing", async () => {
    expect(await validate("name: a\nsteps:\n  - {name: s, type: bsh}\n  - {name: t, type: bash}\n")).toEqual({
      valid: false,
      name: "",
      kind: "",
      warnings: [],
      errors: [
        {
          message: expect.stringMatching(/^unknown step type "bsh"/),
          path: "steps[0].type",
          line: 3,
          column: 21,
        },
        { message: expect.stringMatching(/requires command/), path: "steps[1]", line: 4, column: 5 },
      ],
    });
  });

  it("returns warnings together with errors, including those about names", async () => {
    const text =
      "name: a\ncolour: red\nsteps:\n  - {name: s, type: bsh}\n  - {name: t, type: bash, command: 'echo {{nobody}}'}\n";
    expect(await validate(text)).toMatchObject({
      valid: false,
      errors: [{ path: "steps[0].type" }],
      warnings: ["colour: unknown key, ignored (line 2)", "t.command: {{nobody}} is undefined"],
    });
  });

  it("reports unknown keys as warnings, and with strict as errors", async () => {
    const text = "name: a\nsteps: [{name: s, type: bash, command: echo, colour: red}]\n";
    expect(await validate(text)).toMatchObject({
      valid: true,
      name: "a",
      kind: "module",
      errors: [],
      warnings: [expect.stringMatching(/^steps\[0\]\.colour: unknown key/)],
    });
    expect(await allWorkflows(test.deps)).toEqual([]);
    expect(await validate(text, true)).toMatchObject({
      valid: false,
      errors: [{ path: "steps[0].colour", message: expect.stringMatching(/^unknown key/), line: 2 }],
    });
  });

  it("reports undefined names in every position", async () => {
    const text = `
name: a
params: [{name: given}]
triggers: [{type: event, topic: custom.a, input: {from_event: event.topic}}]
steps:
  - {name: get, type: http, url: "http://a.example/{{given}}/{{from_event}}"}
  - name: each
    type: foreach
    input: "{{get_body}}"
    variable: item
    step:
      {name: inner, type: bash, command: "echo {{item}} [[_item_]] {{get_status_code}} {{misspelt}}", exports: {out: "x"}}
  - {name: last, type: bash, command: "echo {{out}} {{Target}} {{secrets.KEY}} {{inner_output}} {{item}}"}
`;
    expect((await validate(text)).warnings).toEqual([
      "inner.command: {{misspelt}} is undefined",
      "last.command: {{item}} is undefined",
    ]);
  });
});
