import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { onTopic } from "../../testing/test-workflows.ts";
import { findWorkflow } from "../store/find-workflow.ts";
import { isListed, saveResponse, toWorkflowRecord, uploadWorkflow, workflowRecord } from "./upload.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const upload = (text: string, contentType = "application/yaml") =>
  uploadWorkflow(test.deps, { text, contentType });
const YAML = onTopic("a", "custom.x");
const JSON_TEXT = JSON.stringify({ name: "a", steps: [{ name: "s", type: "bash", command: "echo" }] });

describe("a body", () => {
  it.each([
    ["YAML", "application/yaml", YAML],
    ["YAML as text", "text/plain", YAML],
    ["YAML as curl sends it", "application/x-www-form-urlencoded", YAML],
    ["YAML without a type", "", YAML],
    ["JSON", "application/json", JSON_TEXT],
    ["JSON of a further type", "application/vnd.weft+json", JSON_TEXT],
    ["JSON as curl sends it", "application/x-www-form-urlencoded", ` ${JSON_TEXT}`],
    ["YAML inside JSON", "application/json", JSON.stringify({ yaml: YAML })],
  ])("is accepted as %s", async (_name, contentType, text) => {
    expect(saveResponse.parse(await upload(text, contentType))).toMatchObject({
      name: "a",
      kind: "module",
      revision: 1,
      warnings: [],
    });
  });

  it.each([
    ["empty", "application/yaml", " ", "body: must be a workflow, but is empty"],
    ["no JSON", "application/json", "{", "body: must be valid JSON"],
    [
      "of another type",
      "image/png",
      "x",
      "content-type: must be application/yaml or application/json, not image/png",
    ],
  ])("that is %s is rejected", async (_name, contentType, text, message) => {
    await expect(upload(text, contentType)).rejects.toMatchObject({ code: "bad_request", message });
  });

  it("is rejected if another revision was stored since the one that it was made from", async () => {
    const save = (text: string, basedOn: number) =>
      uploadWorkflow(test.deps, { text, contentType: "application/yaml" }, basedOn);
    await expect(save(YAML, 1)).rejects.toMatchObject({ code: "conflict" });
    expect(await save(YAML, 0)).toMatchObject({ revision: 1 });
    expect(await save(`# mine\n${YAML}`, 1)).toMatchObject({ revision: 2 });
    await expect(save(`# theirs\n${YAML}`, 1)).rejects.toMatchObject({
      code: "conflict",
      message: "revision: the workflow a is not at 1, its newest revision is 2",
    });
    await expect(save(`# new\n${YAML}`, 0)).rejects.toMatchObject({ code: "conflict" });
  });

  it("is rejected with line, column and path", async () => {
    await expect(upload("name: a\nsteps:\n  - {name: s, type: nonsense}\n")).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringMatching(/^line 3, column \d+: steps\[0\]\.type: .*bash.*function.*llm/),
    });
  });

  it("produces warnings for keys that are ignored", async () => {
    const { warnings } = await upload(
      "name: a\nsteps: [{name: s, type: bash, command: echo, colour: red}]\n",
    );
    expect(warnings).toEqual([expect.stringContaining("colour")]);
  });
});

it("a stored workflow is returned with all list fields, and found by kind, tag and text", async () => {
  await upload(
    "name: a\ndescription: Finds Things\ntags: [x, y]\nparams: [{name: target, required: true}]\nsteps: [{name: s, type: bash, command: echo}]\n",
  );
  const head = await findWorkflow(test.deps, "a");
  expect(workflowRecord.strict().parse(toWorkflowRecord(head))).toMatchObject({
    name: "a",
    tags: ["x", "y"],
    step_count: 1,
    required_params: ["target"],
    source: "api",
  });
  expect(isListed(head, {})).toBe(true);
  expect(isListed(head, { kind: "flow" })).toBe(false);
  expect(isListed(head, { tags: "z, y" })).toBe(true);
  expect(isListed(head, { tags: "z" })).toBe(false);
  expect(isListed(head, { search: "things" })).toBe(true);
  expect(isListed(head, { search: "other" })).toBe(false);
  expect(isListed({ ...head, hidden: true }, {})).toBe(false);
});
