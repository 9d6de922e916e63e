import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FIXTURE_FILES, makeTree } from "./fixture-tree.ts";
import { findStaleFiles, generateFiles } from "./write.ts";

const NESTED = "infra/stacks/workflows.yaml";
const FILES = [
  "template.yaml",
  NESTED,
  "openapi.json",
  "client/api-types.ts",
  "examples/workflow.schema.json",
];

describe("generate", () => {
  it("returns the same bytes for any order of file creation", async () => {
    await using tree = await makeTree();
    await using reversed = await makeTree(Object.fromEntries(Object.entries(FIXTURE_FILES).reverse()));

    const first = await generateFiles(tree.root);
    const second = await generateFiles(reversed.root);

    expect([...first.files.keys()]).toEqual(FILES);
    expect([...second.files]).toEqual([...first.files]);
  });

  it("reports outdated files", async () => {
    await using tree = await makeTree();
    const { files } = await generateFiles(tree.root);
    expect(await findStaleFiles(tree.root, files)).toEqual(FILES);

    await tree.write(Object.fromEntries(files));
    expect(await findStaleFiles(tree.root, files)).toEqual([]);

    await tree.write({ "template.yaml": `${files.get("template.yaml")} ` });
    expect(await findStaleFiles(tree.root, files)).toEqual(["template.yaml"]);

    await tree.write({ ...Object.fromEntries(files), [NESTED]: `${files.get(NESTED)} ` });
    expect(await findStaleFiles(tree.root, files)).toEqual([NESTED]);
  });
});

describe("the program", () => {
  const program = join(import.meta.dirname, "write.ts");
  const run = (root: string, ...argv: string[]) =>
    spawnSync(process.execPath, [program, "--root", root, ...argv], { encoding: "utf8" });

  it("writes the files, then finds them up to date, then prints the command that updates them", async () => {
    await using tree = await makeTree();

    const outdated = run(tree.root, "--check");
    expect(outdated.status).toBe(1);
    expect(outdated.stderr).toContain(`${FILES.join(", ")}. Run: npm run infra:write`);

    const written = run(tree.root);
    expect(written.status).toBe(0);
    expect(written.stdout).toContain(`${NESTED}: 11 functions, 60 CloudFormation resources of 450`);
    expect(await readFile(join(tree.root, NESTED), "utf8")).toContain("EmitEventFunction:");

    expect(run(tree.root, "--check").status).toBe(0);
  });

  it("prints the issues of the tree", async () => {
    await using tree = await makeTree();
    await tree.write({ "functions/executors/lost.ts": "export {};" });

    const checked = run(tree.root, "--check");

    expect(checked.status).toBe(1);
    expect(checked.stderr.trim()).toBe("functions/executors/lost.ts: must export `consumer` and `handler`");
  });
});
