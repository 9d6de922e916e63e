import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { dryRun } from "../runs/dry-run.ts";
import { requireManualStart } from "../runs/manual-trigger.ts";
import { getRun } from "../runs/read.ts";
import { startBody, startRun } from "../runs/start.ts";
import { createSchedule } from "../schedules/manage.ts";
import { createBody } from "../schedules/schedule-body.ts";
import { openWorkflowFolder } from "../uploads/workflow-folder.ts";
import { findWorkflow } from "./find-workflow.ts";
import { findNamed } from "./store.ts";

const STEPS = "steps: [{name: a, type: bash, command: 'true'}]\n";

let test: TestDeps;
beforeAll(async () => {
  test = await testDeps();
  const files = {
    "url.yaml": `name: web-analysis\n${STEPS}triggers: [{name: hand, on: manual, enabled: false}]\n`,
    "common/enum-ports.yml": `name: port-finder\n${STEPS}`,
    "zz/enum-ports.yaml": `name: other-finder\n${STEPS}`,
    "test-flow.yaml": "kind: flow\nname: everything\nmodules: [{name: m, path: common/enum-ports.yaml}]\n",
    "a-child.yaml": `name: child\nextends: url\n`,
  };
  for (const [path, text] of Object.entries(files)) {
    const file = join(test.folder, "flows", path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const folder = await openWorkflowFolder(test.deps, join(test.folder, "flows"));
  await folder.close();
});
afterAll(() => test.close());

const found = async (written: string): Promise<string> => (await findWorkflow(test.deps, written)).name;

describe("finds a workflow", () => {
  it.each([
    ["web-analysis", "web-analysis"],
    ["url", "web-analysis"],
    ["url.yaml", "web-analysis"],
    ["common/enum-ports.yaml", "port-finder"],
    ["zz/enum-ports", "other-finder"],
    ["enum-ports", "port-finder"],
    ["elsewhere/url.yml", "web-analysis"],
    ["test", "everything"],
  ])("%j is %j", async (written, name) => {
    expect(await found(written)).toBe(name);
  });

  it("by the file's name in runs, dry runs, modules of flows, extends and schedules", async () => {
    const { deps } = test;
    const started = await startRun(deps, startBody.parse({ module: "url", target: "t" }));
    expect(started).toMatchObject({ workflow: "web-analysis" });
    expect(await getRun(deps, started.run_id)).toMatchObject({ workflow_name: "web-analysis" });
    expect(await dryRun(deps, startBody.parse({ flow: "test-flow", target: "t" }))).toMatchObject({
      workflow: "everything",
      steps: [{ name: "a" }],
    });
    expect(await findNamed(deps, "child")).toMatchObject({ extends: "web-analysis", step_count: 1 });
    const body = createBody.parse({ name: "s", workflow_name: "url.yaml", schedule: "0 0 * * *" });
    expect(await createSchedule(deps, body)).toMatchObject({ workflow_name: "web-analysis" });
  });

  it("with its manual trigger disabled, by any of its names", async () => {
    for (const written of ["web-analysis", "url", "url.yaml"])
      await expect(requireManualStart(test.deps, written)).rejects.toMatchObject({ code: "bad_request" });
  });
});

describe("a workflow that does not exist", () => {
  it.each([
    ["web-anlysis", "Workflow not found: web-anlysis. Did you mean 'web-analysis'?"],
    ["common/enum-prts.yaml", "Workflow not found: common/enum-prts.yaml. Did you mean 'enum-ports'?"],
    ["qqqqqqqqqqqqqqqqqqqqqqqq", "Workflow not found: qqqqqqqqqqqqqqqqqqqqqqqq"],
    ["", "Workflow not found: "],
    ["/", "Workflow not found: /"],
  ])("%j", async (written, message) => {
    await expect(findWorkflow(test.deps, written)).rejects.toMatchObject({ code: "not_found", message });
  });

  it("is an error of a schedule, with the same suggestion", async () => {
    const body = createBody.parse({ name: "s", workflow_name: "web-analyses", schedule: "0 0 * * *" });
    await expect(createSchedule(test.deps, body)).rejects.toMatchObject({
      message: "workflow_name: Workflow not found: web-analyses. Did you mean 'web-analysis'?",
    });
  });
});
