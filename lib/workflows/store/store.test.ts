import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { onTopic, storeWorkflow } from "../../testing/test-workflows.ts";
import { parseDefinition } from "../schema/parse.ts";
import { findWorkflow } from "./find-workflow.ts";
import { allWorkflows, deleteWorkflow, loadRevision, saveWorkflow } from "./store.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const fromFile = (yaml: string, filePath = "a.yaml") => {
  const parsed = parseDefinition(yaml);
  if (!parsed.ok) throw new Error("does not parse");
  return saveWorkflow(test.deps, { definition: parsed.definition, yaml, source: "file", filePath });
};
const inUse = async (): Promise<string[]> =>
  (await allWorkflows(test.deps)).map(({ name, revision }) => `${name} ${revision}`);

const YAML = onTopic("a", "custom.x");
const OTHER = onTopic("a", "custom.y");

describe("storing", () => {
  it("the same text twice creates one revision, another text a second one", async () => {
    expect(await storeWorkflow(test.deps, YAML)).toMatchObject({ changed: true, head: { revision: 1 } });
    expect(await storeWorkflow(test.deps, YAML)).toMatchObject({ changed: false, head: { revision: 1 } });
    expect(await storeWorkflow(test.deps, OTHER)).toMatchObject({ changed: true, head: { revision: 2 } });
    expect(await storeWorkflow(test.deps, YAML)).toMatchObject({ changed: true, head: { revision: 3 } });
    expect(await inUse()).toEqual(["a 3"]);
    expect((await loadRevision(test.deps, "a", 2)).yaml).toBe(OTHER);
    expect((await loadRevision(test.deps, "a", 1)).definition.triggers).toMatchObject([
      { topic: "custom.x" },
    ]);
  });

  it("concurrently gives every text its own revision", async () => {
    const texts = Array.from({ length: 5 }, (_, n) => onTopic("a", `custom.${n}`));
    const saved = await Promise.all(texts.map((text) => storeWorkflow(test.deps, text)));
    expect(saved.map(({ head }) => head.revision).toSorted()).toEqual([1, 2, 3, 4, 5]);
    const stored = await Promise.all(saved.map(({ head }) => loadRevision(test.deps, "a", head.revision)));
    expect(stored.map(({ yaml }) => yaml)).toEqual(texts);
  });

  it("accepts definitions that are too large for an item, and steps at the maximum nesting", async () => {
    const large = onTopic("large", "custom.x").replace("echo only", "x".repeat(60_000));
    const steps = Array.from(
      { length: 2 },
      (_, n) => `  - {name: s${n}, type: bash, command: "${"y".repeat(60_000)}"}`,
    );
    await storeWorkflow(test.deps, `${large}${steps.join("\n")}\n`);
    const nested = Array.from({ length: 15 }, (_, n) => n).reduce(
      (inner, n) => `{name: p${n}, type: parallel-steps, parallel_steps: [${inner}]}`,
      "{name: leaf, type: bash, command: echo}",
    );
    await storeWorkflow(test.deps, `name: deep\nsteps: [${nested}]\n`);
    expect((await loadRevision(test.deps, "large", 1)).definition.steps).toHaveLength(3);
    expect(JSON.stringify((await loadRevision(test.deps, "deep", 1)).definition)).toContain('"leaf"');
    expect(await test.deps.blobs.list("workflows/")).toHaveLength(1);
  });
});

describe("deleting", () => {
  it("disables its triggers, removes it from lists, and keeps its revisions for the runs that use them", async () => {
    await storeWorkflow(test.deps, YAML);
    await deleteWorkflow(test.deps, "a");
    expect(await inUse()).toEqual([]);
    expect((await test.deps.catalog.current()).eventTriggers).toEqual([]);
    await expect(findWorkflow(test.deps, "a")).rejects.toMatchObject({ code: "not_found" });
    await expect(deleteWorkflow(test.deps, "a")).rejects.toMatchObject({ code: "not_found" });
    expect((await loadRevision(test.deps, "a", 1)).yaml).toBe(YAML);
    expect(await storeWorkflow(test.deps, YAML)).toMatchObject({
      changed: true,
      head: { revision: 2, deleted: false },
    });
    expect((await test.deps.catalog.current()).eventTriggers).toHaveLength(1);
  });
});

describe("an unchanged file", () => {
  it("does not undo a change by request", async () => {
    await fromFile(YAML);
    await storeWorkflow(test.deps, OTHER);
    expect(await fromFile(YAML)).toMatchObject({ changed: false, head: { revision: 2, source: "api" } });
    expect((await findWorkflow(test.deps, "a")).triggers).toMatchObject([{ topic: "custom.y" }]);
  });

  it("does not restore a workflow deleted by request, unless the file changes", async () => {
    await fromFile(YAML);
    await deleteWorkflow(test.deps, "a");
    expect(await fromFile(YAML)).toMatchObject({ changed: false });
    expect(await inUse()).toEqual([]);
    expect(await fromFile(`${YAML}# touched\n`)).toMatchObject({ changed: true });
    expect(await inUse()).toEqual(["a 2"]);
  });

  it("restores its workflow when it reappears", async () => {
    await fromFile(YAML);
    await deleteWorkflow(test.deps, "a", true);
    expect(await fromFile(YAML)).toMatchObject({ changed: true });
  });

  it("keeps its workflow when it is renamed, without a new revision", async () => {
    await fromFile(YAML, "old.yaml");
    expect(await fromFile(YAML, "new.yaml")).toMatchObject({
      changed: false,
      head: { file_path: "new.yaml" },
    });
    expect(await findWorkflow(test.deps, "a")).toMatchObject({ revision: 1, file_path: "new.yaml" });
  });
});

it("a catalog reader sees every change immediately, including changes by other processes", async () => {
  expect((await test.deps.catalog.current()).heads).toEqual([]);
  await storeWorkflow(test.deps, YAML);
  const first = await test.deps.catalog.current();
  expect(first.heads).toHaveLength(1);
  expect(await test.deps.catalog.current()).toBe(first);
  await storeWorkflow(test.deps, onTopic("b", "custom.x"));
  expect((await test.deps.catalog.current()).heads).toHaveLength(2);
});
