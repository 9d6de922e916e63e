import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";
import { parseDefinition } from "../../lib/workflows/schema/parse.ts";

let weft: TestServer;
beforeAll(async () => {
  weft = await startTestServer();
  const guide = await readFile(new URL("../../docs/runs-in-scripts.md", import.meta.url), "utf8");
  const blocks = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = ""]) => yaml);
  expect(blocks).toHaveLength(3);
  for (const yaml of blocks) {
    expect(parseDefinition(yaml)).toMatchObject({ ok: true, warnings: [] });
    await weft.storeWorkflow(yaml);
  }
});
afterAll(() => weft[Symbol.asyncDispose]());

test("the guide's workflows start child runs, which complete", async () => {
  const run = await weft.run({ module: "look-at-all", target: "all", workspace: "all" });
  expect(run).toMatchObject({ status: "completed", error_message: "" });
  const { start, seen } = await weft.steps(run.run_id);
  const ids = String(start?.output).split(" ");
  expect(new Set(ids).size).toBe(2);
  expect(JSON.parse(seen?.output ?? "")).toMatchObject({ run_uuid: ids[0], workflow_name: "look-closer" });
  for (const [index, id] of ids.entries()) {
    expect(await weft.waitForRun(id)).toMatchObject({ status: "completed" });
    const { look } = await weft.steps(id);
    expect(look?.output.trim()).toBe(`${"ab"[index]}.example at depth 2`);
  }
});

test("the guide's workflow exports a snapshot of a workspace and restores it", async () => {
  const snapshotRun = await weft.run({ module: "look-closer", target: "acme", workspace: "acme" });
  expect(snapshotRun.status).toBe("completed");
  const run = await weft.run({ module: "keep-a-copy", target: "acme", workspace: "copies" });
  expect(run).toMatchObject({ status: "completed", error_message: "" });
  const { pack, restore } = await weft.steps(run.run_id);
  expect(pack?.output).toMatch(/copies.acme\.zip$/);
  expect(restore?.output).toBe("acme");
});
