import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { onTopic, storeWorkflow } from "../../testing/test-workflows.ts";
import { allWorkflows } from "../store/store.ts";
import { openWorkflowFolder, type WorkflowFolder } from "./workflow-folder.ts";

let test: TestDeps;
let folder: string;
let open: WorkflowFolder | undefined;
beforeEach(async () => {
  test = await testDeps();
  folder = await mkdtemp(join(tmpdir(), "weft-workflows-"));
});
afterEach(async () => {
  await open?.close();
  open = undefined;
  await test.close();
  await rm(folder, { recursive: true, force: true });
});

const write = (file: string, text: string) => writeFile(join(folder, file), text);
const reopen = async (): Promise<void> => {
  await open?.close();
  open = await openWorkflowFolder(test.deps, folder);
};
const inUse = async (): Promise<string[]> =>
  (await allWorkflows(test.deps)).map(({ name, revision, file_path }) => `${name} ${revision} ${file_path}`);
const until = (wanted: string[]) =>
  vi.waitFor(async () => expect(await inUse()).toEqual(wanted), { timeout: 10_000, interval: 20 });

it("reads all workflows when it opens, also in subfolders, and ignores other files", async () => {
  await mkdir(join(folder, "common"));
  await write("a.yaml", onTopic("a", "x"));
  await write("common/b.yml", onTopic("b", "x"));
  await write("readme.md", onTopic("c", "x"));
  await write(".hidden.yaml", onTopic("d", "x"));
  await write("broken.yaml", "steps: [");
  await reopen();
  expect(await inUse()).toEqual(["a 1 a.yaml", "b 1 common/b.yml"]);
  expect(test.logs.filter(({ level }) => level === "error")).toMatchObject([
    { message: "rejected a workflow file", fields: { file: "broken.yaml" } },
  ]);
});

it("reopens without storing anything new, regardless of the number of files", async () => {
  const names = Array.from({ length: 40 }, (_, n) => `w${n}`);
  await mkdir(join(folder, "deep/er"), { recursive: true });
  for (const name of names) await write(`deep/er/${name}.yaml`, onTopic(name, "x"));
  await reopen();
  const first = await allWorkflows(test.deps);
  expect(first.map(({ name }) => name)).toEqual(names.toSorted());
  test.clock.advance(60_000);
  await reopen();
  expect(await allWorkflows(test.deps)).toEqual(first);
});

it("follows added, changed and deleted files while it is open", async () => {
  await reopen();
  await write("a.yaml", onTopic("a", "x"));
  await until(["a 1 a.yaml"]);
  await write("a.yaml", onTopic("a", "y"));
  await until(["a 2 a.yaml"]);
  await write("a.yaml", "name: a\nsteps: nothing\n");
  await vi.waitFor(
    () => expect(test.logs.some(({ message }) => message === "rejected a workflow file")).toBe(true),
    { timeout: 10_000 },
  );
  expect(await inUse()).toEqual(["a 2 a.yaml"]);
  await rm(join(folder, "a.yaml"));
  await until([]);
});

it("keeps the workflow of a file that is renamed, while open or closed", async () => {
  await write("a.yaml", onTopic("a", "x"));
  await reopen();
  await rename(join(folder, "a.yaml"), join(folder, "b.yaml"));
  await vi.waitFor(
    async () => expect((await inUse()).map((one) => one.replace(/ \d+ /, " "))).toEqual(["a b.yaml"]),
    { timeout: 10_000 },
  );
  await open?.close();
  open = undefined;
  await rename(join(folder, "b.yaml"), join(folder, "c.yaml"));
  await reopen();
  expect((await inUse()).map((one) => one.replace(/ \d+ /, " "))).toEqual(["a c.yaml"]);
});

it("deletes workflows whose files were deleted while it was closed, and keeps those stored by request", async () => {
  await write("a.yaml", onTopic("a", "x"));
  await write("b.yaml", onTopic("b", "x"));
  await reopen();
  await storeWorkflow(test.deps, onTopic("b", "other"));
  await open?.close();
  open = undefined;
  await rm(join(folder, "a.yaml"));
  await rm(join(folder, "b.yaml"));
  await reopen();
  expect(await inUse()).toEqual(["b 2 b.yaml"]);
});

it("undoes no request when it reads an unchanged file", async () => {
  await write("a.yaml", onTopic("a", "x"));
  await reopen();
  await storeWorkflow(test.deps, onTopic("a", "y"));
  await reopen();
  expect((await allWorkflows(test.deps))[0]?.triggers).toMatchObject([{ topic: "y" }]);
});

it("deletes the old workflow of a file that renames it", async () => {
  await write("a.yaml", onTopic("a", "x"));
  await reopen();
  await write("a.yaml", onTopic("b", "x"));
  await until(["b 1 a.yaml"]);
});

it("gives a name used in two files to the file with that name, and the other workflow its file's name", async () => {
  const flow = (name: string, more: string) => `kind: flow\nname: ${name}\n${more}`;
  await mkdir(join(folder, "parts"));
  await write("site.yaml", flow("shop", "modules: [{name: m, path: parts/look.yaml}]\n"));
  await write("shop.yaml", flow("shop", "description: The same\nextends: site\n"));
  await write("parts/deep.yaml", onTopic("look", "deep"));
  await write("parts/look.yaml", onTopic("look", "look"));
  const wanted = ["deep parts/deep.yaml", "look parts/look.yaml", "shop shop.yaml", "site site.yaml"];
  const found = async () => (await inUse()).map((one) => one.replace(/ \d+ /, " "));
  await reopen();
  expect(await found()).toEqual(wanted);
  const heads = await allWorkflows(test.deps);
  expect(heads.find(({ name }) => name === "shop")?.extends).toBe("site");
  expect(heads.find(({ name }) => name === "look")?.triggers).toMatchObject([{ topic: "look" }]);
  await reopen();
  expect(await allWorkflows(test.deps)).toEqual(heads);

  await write("site.yaml", flow("shop", "modules: [{name: n, path: parts/deep.yaml}]\n"));
  await vi.waitFor(
    async () =>
      expect((await allWorkflows(test.deps)).find(({ name }) => name === "shop")?.revision).toBeGreaterThan(
        heads.find(({ name }) => name === "shop")?.revision ?? 0,
      ),
    { timeout: 10_000 },
  );
  expect(await found()).toEqual(wanted);

  await rm(join(folder, "shop.yaml"));
  await vi.waitFor(
    async () => expect(await found()).toEqual(wanted.filter((one) => !one.startsWith("shop"))),
    {
      timeout: 10_000,
    },
  );
  await reopen();
  expect(await found()).toEqual(["deep parts/deep.yaml", "look parts/look.yaml", "shop site.yaml"]);
});
