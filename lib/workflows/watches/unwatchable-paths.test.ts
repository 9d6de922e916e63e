import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { route as createSchedule } from "../../../functions/workflows/schedules/create.ts";
import { route as updateSchedule } from "../../../functions/workflows/schedules/update.ts";
import { route as createWorkflow } from "../../../functions/workflows/workflows/create.ts";
import { route as validateWorkflow } from "../../../functions/workflows/workflows/validate.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { call } from "../../testing/test-route-call.ts";

const yaml = (path: string): string =>
  `name: w\ntriggers: [{name: in, type: watch, path: "${path}"}, {name: hand, type: manual}]\nsteps: [{name: s, type: bash, command: ls}]\n`;
const WHY = "must be in the workspaces, because machines share no other files";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

async function answers(sharesWorkspaces: boolean, path: string) {
  const deps = { ...test.deps, sharesWorkspaces, watchRoots: ["/data"] };
  const sent = { body: yaml(path), headers: { "content-type": "application/yaml" } };
  const schedule = { name: "s", workflow_name: "w", trigger_type: "watch", watch_path: path };
  const [saved, validated] = [
    await call(deps, createWorkflow, sent),
    await call(deps, validateWorkflow, sent),
  ];
  return { saved, validated, made: await call(deps, createSchedule, { body: schedule }) };
}

describe("a watch trigger", () => {
  it.each([
    [false, "in"],
    [false, "/data/in/*.txt"],
    [true, "in/**/*.txt"],
    [true, "/weft/workspaces/shop"],
  ])("is taken where workspaces are shared: %s, with the path %s", async (shared, path) => {
    const { saved, validated, made } = await answers(shared, path);
    expect([saved.body.warnings, validated.body.warnings, made.status]).toEqual([[], [], 201]);
  });

  it.each(["/data/in/*.txt", "../in", "/**", "in/../../x"])(
    "is reported as unable to fire, because machines do not share %s",
    async (path) => {
      const { saved, validated, made } = await answers(true, path);
      const said = `trigger in: path: ${WHY}`;
      expect([saved.status, saved.body.warnings, validated.body.warnings]).toEqual([201, [said], [said]]);
      expect([made.status, made.body]).toEqual([400, { error: true, message: `watch_path: ${WHY}` }]);
    },
  );

  it.each(["/elsewhere/in/*.txt", "../in", "/**", "/database/x"])(
    "is reported as unable to fire, because %s is outside of WATCH_ROOTS",
    async (path) => {
      const { saved, validated, made } = await answers(false, path);
      const said = expect.stringMatching(
        /^trigger in: path: .* outside of the workspaces and of WATCH_ROOTS/,
      );
      expect([saved.status, saved.body.warnings, validated.body.warnings]).toEqual([201, [said], [said]]);
      expect(made).toMatchObject({
        status: 400,
        body: { error: true, message: expect.stringMatching(/^watch_path: .* outside of the workspaces/) },
      });
    },
  );

  it("of a stored schedule can still be disabled", async () => {
    const { made } = await answers(false, "/data/in");
    const params = { id: (made.body as { data: { id: string } }).data.id };
    const deps = { ...test.deps, watchRoots: [] };
    const changed = await call(deps, updateSchedule, { params, body: { enabled: false } });
    expect(changed).toMatchObject({ status: 200, body: { data: { is_enabled: false } } });
  });

  it("cannot be changed to a path that cannot fire", async () => {
    const { made } = await answers(true, "in");
    const deps = { ...test.deps, sharesWorkspaces: true };
    const params = { id: (made.body as { data: { id: string } }).data.id };
    const changed = await call(deps, updateSchedule, { params, body: { watch_path: "/etc" } });
    expect([changed.status, changed.body]).toEqual([400, { error: true, message: `watch_path: ${WHY}` }]);
  });
});
