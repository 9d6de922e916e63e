import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { route as createSchedule } from "../../../functions/workflows/schedules/create.ts";
import { route as createWorkflow } from "../../../functions/workflows/workflows/create.ts";
import { route as validateWorkflow } from "../../../functions/workflows/workflows/validate.ts";
import { call } from "../../testing/test-calls.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";

const YAML =
  "name: w\ntriggers: [{name: in, type: watch, path: in}, {name: hand, type: manual}]\nsteps: [{name: s, type: bash, command: ls}]\n";
const SAID = expect.stringMatching(/^trigger in: files are watched by a server on one machine alone/);

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

async function answers(sharesWorkspaces: boolean) {
  const deps = { ...test.deps, sharesWorkspaces };
  const sent = { body: YAML, headers: { "content-type": "application/yaml" } };
  const schedule = { name: "s", workflow_name: "w", trigger_type: "watch", watch_path: "in" };
  const [saved, validated] = [
    await call(deps, createWorkflow, sent),
    await call(deps, validateWorkflow, sent),
  ];
  return { saved, validated, made: await call(deps, createSchedule, { body: schedule }) };
}

describe("a watch trigger", () => {
  it("is taken where one machine has the workspaces", async () => {
    const { saved, validated, made } = await answers(false);
    expect([saved.body.warnings, validated.body.warnings, made.status]).toEqual([[], [], 201]);
  });

  it("that nothing will fire, since machines share the workspaces, is told of at once", async () => {
    const { saved, validated, made } = await answers(true);
    expect([saved.status, saved.body.warnings, validated.body.warnings]).toEqual([201, [SAID], [SAID]]);
    expect([made.status, made.body]).toEqual([
      400,
      { error: true, message: expect.stringMatching(/^trigger_type: files are watched by a server/) },
    ]);
  });
});
