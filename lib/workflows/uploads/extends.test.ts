import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import type { Definition } from "../schema/types.ts";
import { findWorkflow } from "../store/find-workflow.ts";
import { loadRevision } from "../store/store.ts";
import { uploadWorkflow } from "./upload.ts";
import { openWorkflowFolder } from "./workflow-folder.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const store = (text: string) => uploadWorkflow(test.deps, { text, contentType: "application/yaml" });
const stored = async (name: string): Promise<Definition> => {
  const { revision } = await findWorkflow(test.deps, name);
  return (await loadRevision(test.deps, name, revision)).definition;
};
const stepsOf = async (name: string): Promise<string[]> =>
  (await stored(name)).steps.map((step) => `${step.name} ${step.type === "bash" ? step.command : ""}`);

const PARENT = `
name: parent
description: Scans
tags: [a]
params: [{name: rate, type: int, default: "10"}, {name: key, required: true}]
triggers: [{name: daily, type: cron, schedule: "0 6 * * *"}]
dependencies: {commands: [sort]}
steps:
  - {name: one, type: bash, command: echo 1}
  - {name: two, type: bash, command: echo 2}
  - {name: three, type: bash, command: echo 3}
`;

describe("a workflow that extends another", () => {
  it("inherits its parts and applies its own changes", async () => {
    await store(PARENT);
    await store(`
name: child
extends: common/parent.yaml
description: Scans more
override:
  params: {rate: 50, key: {required: false}, extra: x}
  triggers: []
  dependencies: {commands: [uniq]}
  steps: {remove: [one], replace: [{name: two, type: bash, command: echo II}], steps: [{name: four, type: bash, command: echo 4}]}
`);
    expect(await stepsOf("child")).toEqual(["two echo II", "three echo 3", "four echo 4"]);
    expect(await stored("child")).toMatchObject({
      kind: "module",
      description: "Scans more",
      tags: ["a"],
      triggers: [],
      extends: "parent",
      params: [
        { name: "rate", type: "int", default: "50", required: false },
        { name: "key", required: false },
        { name: "extra", type: "string", default: "x" },
      ],
      dependencies: { commands: ["sort", "uniq"] },
    });
  });

  it.each([
    ["append", ["one echo 1", "two echo 2", "three echo 3", "new x"]],
    ["prepend", ["new x", "one echo 1", "two echo 2", "three echo 3"]],
    ["replace", ["new x"]],
  ])("inserts its steps at the requested position: %s", async (mode, steps) => {
    await store(PARENT);
    await store(
      `name: c\nextends: parent\noverride: {steps: {mode: ${mode}, steps: [{name: new, type: bash, command: x}]}}\n`,
    );
    expect(await stepsOf("c")).toEqual(steps);
  });

  it("merges steps by name", async () => {
    await store(PARENT);
    await store(
      "name: c\nextends: parent\noverride: {steps: {mode: merge, steps: [{name: two, type: bash, command: x}, {name: new, type: bash, command: y}]}}\n",
    );
    expect(await stepsOf("c")).toEqual(["one echo 1", "two x", "three echo 3", "new y"]);
  });

  it("follows changes of its parent, and so do its own heirs", async () => {
    await store(PARENT);
    await store("name: child\nextends: parent\n");
    await store("name: grandchild\nextends: child\noverride: {steps: {remove: [three]}}\n");
    await store(PARENT.replace("echo 1", "echo uno"));
    expect(await stepsOf("grandchild")).toEqual(["one echo uno", "two echo 2"]);
    expect(await findWorkflow(test.deps, "grandchild")).toMatchObject({ revision: 2 });
    // If the parent loses a part that the heir names, the heir stays unchanged.
    await store(PARENT.replace(/ {2}- \{name: three.*\n/, ""));
    expect(await stepsOf("child")).toEqual(["one echo 1", "two echo 2"]);
    expect(await stepsOf("grandchild")).toEqual(["one echo uno", "two echo 2"]);
    expect(test.logs.map(({ message }) => message)).toContain(
      "updating a workflow that extends another failed",
    );
  });

  it.each([
    ["name: c\nextends: nobody\n", 'unknown workflow "nobody"'],
    ["name: c\nextends: parent\nkind: flow\n", "is a module"],
    ["name: c\nextends: parent\noverride: {steps: {remove: [nine]}}\n", 'has no "nine"'],
    [
      "name: c\nextends: parent\noverride: {steps: {mode: replace}}\n",
      "requires at least one entry in steps",
    ],
    ["name: parent\nextends: parent\n", "circular inheritance detected"],
  ])("is rejected as %j", async (text, message) => {
    await store(PARENT);
    await expect(store(text)).rejects.toThrow(message);
  });

  it("is rejected if it would extend itself", async () => {
    await store(PARENT);
    await store("name: child\nextends: parent\n");
    await expect(store("name: parent\nextends: child\n")).rejects.toThrow("circular inheritance detected");
  });

  it("may add a step with the name of a parent's step", async () => {
    await store(PARENT);
    await store(
      "name: c\nextends: parent\noverride: {steps: {steps: [{name: one, type: bash, command: x}]}}\n",
    );
    expect(await stepsOf("c")).toEqual(["one echo 1", "two echo 2", "three echo 3", "one-2 x"]);
  });

  it("may be in a file that is read before the parent's", async () => {
    const folder = await mkdtemp(join(tmpdir(), "weft-extends-"));
    try {
      await writeFile(join(folder, "a-child.yaml"), "extends: b-parent\n");
      await writeFile(join(folder, "b-parent.yaml"), PARENT.replace("name: parent", "name: b-parent"));
      const watched = await openWorkflowFolder(test.deps, folder);
      await watched.close();
      expect(await stepsOf("a-child")).toHaveLength(3);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
