import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { conduct } from "../runs/conduct.ts";
import { startBody, startRun } from "../runs/start.ts";
import { switchSchedule } from "../schedules/manage.ts";
import { scheduleKey, schedulesTable } from "../store/trigger-tables.ts";
import { type WorkspaceChanged, workspaceChangedEntries } from "../workspaces/changed-event.ts";
import type { Changes } from "../workspaces/layers.ts";

const WORKSPACE = "shop";

const SCHEDULE = "sch_w:files";

const REPORT = {
  attempt: 1,
  command: "",
  output: "",
  output_truncated: false,
  output_lines: 0,
  duration_ms: 0,
  log_file: "",
  exports: {},
  values: {},
};

let test: TestDeps;

beforeEach(async () => {
  test = await testDeps({ firesPerMinute: 5 });
});

afterEach(() => test.close());

const watching = (path: string): string =>
  `name: w\ntriggers: [{name: files, type: watch, path: "${path}"}]\nsteps: [{name: a, type: bash, command: echo}]\n`;

const file = (content: string, mode = 0o644) => ({ sha256: content, bytes: content.length, mode });

/** A layer of the workspace, after the earlier ones. */
async function layer(key: string, changes: Changes): Promise<string> {
  await test.deps.blobs.put(key, JSON.stringify(changes));
  return key;
}

async function tell(layers: readonly string[], more: Partial<WorkspaceChanged> = {}): Promise<void> {
  const changed = { layer: layers.at(-1) ?? "", earlier: layers.slice(0, -1) };
  await test.deps.bus.publish(
    await workspaceChangedEntries(test.deps, { workspace: WORKSPACE, ...changed, hop: 1, ...more }),
  );
  await test.drain();
}

const fires = async (): Promise<string[]> => {
  const { records } = await readLog(test.deps, { topic: "schedule.triggered" });
  const folder = `${test.deps.workspacesDir}/`;
  return records
    .map(({ data }) => JSON.parse(data) as { path: string; change: string })
    .map(({ path, change }) => `${change} ${path.replace(folder, "")}`)
    .toSorted();
};

describe("a watch trigger on shared workspaces", () => {
  it("fires for each file that a step created or changed, and for nothing else", async () => {
    await storeWorkflow(test.deps, watching("*/in/*.txt"));
    const one = await layer("l1", {
      "in/a.txt": file("a"),
      "in/b.txt": file("b"),
      "in/no.json": file("n"),
      "a.txt": file("a"),
      "in/link.txt": { link: "/etc/passwd" },
      "in/folder.txt": { folder: true },
    });
    await tell([one]);
    expect(await fires()).toEqual(["new shop/in/a.txt", "new shop/in/b.txt"]);
    const two = await layer("l2", {
      "in/a.txt": file("A"),
      "in/b.txt": file("b", 0o755),
      "in/c.txt": file("c"),
      "in/no.json": null,
    });
    await tell([one, two]);
    expect(await fires()).toEqual([
      "changed shop/in/a.txt",
      "new shop/in/a.txt",
      "new shop/in/b.txt",
      "new shop/in/c.txt",
    ]);
    const runs = await readRuns(test.deps);
    expect(runs).toHaveLength(4);
    // The run uses the workspace of the file, so that it can read it.
    expect(
      runs.map(({ target, workspace, trigger_type }) => [target, workspace, trigger_type]),
    ).toContainEqual([`${test.deps.workspacesDir}/shop/in/c.txt`, WORKSPACE, "watch"]);
  });

  it("fires once with duplicate messages, and again for later changes", async () => {
    await storeWorkflow(test.deps, watching("shop"));
    const one = await layer("l1", { "a.txt": file("a") });
    const two = await layer("l2", { "a.txt": file("b") });
    const three = await layer("l3", { "a.txt": file("a") });
    for (let time = 0; time < 3; time += 1) await tell([one]);
    await Promise.all([tell([one, two]), tell([one, two])]);
    await tell([one]);
    await tell([one, two, three]);
    expect(await fires()).toEqual(["changed shop/a.txt", "changed shop/a.txt", "new shop/a.txt"]);
  });

  it("does not fire while it is disabled, nor later for changes made then", async () => {
    await storeWorkflow(test.deps, watching("shop"));
    await switchSchedule(test.deps, SCHEDULE, false);
    const one = await layer("l1", { "a.txt": file("a") });
    expect(
      await workspaceChangedEntries(test.deps, { workspace: WORKSPACE, layer: one, earlier: [], hop: 1 }),
    ).toEqual([]);
    await switchSchedule(test.deps, SCHEDULE, true);
    await tell([one, await layer("l2", { "b.txt": file("b") })]);
    expect(await fires()).toEqual(["new shop/b.txt"]);
  });

  it("continues where it stopped after the rate limit", async () => {
    await storeWorkflow(test.deps, watching("shop"));
    const names = ["1", "2", "3", "4", "5", "6", "7"];
    const one = await layer("l1", Object.fromEntries(names.map((name) => [name, file(name)])));
    await tell([one]);
    expect(await fires()).toHaveLength(5);
    test.clock.advance(60_000);
    await tell([one]);
    expect(await fires()).toEqual(names.map((name) => `new shop/${name}`));
  });

  it("reports an error for a path outside of the workspaces", async () => {
    await storeWorkflow(test.deps, watching("/etc/*"));
    await tell([await layer("l1", { "a.txt": file("a") })]);
    expect(await test.deps.tables.get(schedulesTable, scheduleKey(SCHEDULE))).toMatchObject({
      error: expect.stringContaining("outside of the workspaces"),
    });
    expect(await fires()).toEqual([]);
  });

  it("is stopped at the hop limit if runs trigger each other through files", async () => {
    await storeWorkflow(test.deps, watching("shop"));
    await tell([await layer("l1", { "a.txt": file("a") })], { hop: 9 });
    expect(await readRuns(test.deps)).toEqual([]);
    const { records } = await readLog(test.deps, { topic: "schedule.triggered" });
    expect(records).toMatchObject([{ error: expect.stringContaining("event loop: more than") }]);
  });
});

describe("a step that changes files of a shared workspace", () => {
  const result = async (key: string, blob: string, atomic?: true): Promise<void> => {
    const [run] = await readRuns(test.deps);
    const { commit } = test.deps.outbox;
    const deps = { ...test.deps, outbox: { commit, ...(atomic === undefined ? {} : { atomic }) } };
    const input = { type: "result", key, dispatch: 1, status: "completed" } as const;
    const report = { ...REPORT, files: { layer: blob } };
    await conduct(deps, { run_id: run?.run_id ?? "", input, report });
  };

  it("fires triggers once, even if its result is redelivered after the end of the run", async () => {
    await storeWorkflow(test.deps, "name: maker\nsteps: [{name: a, type: bash, command: echo}]\n");
    await startRun(test.deps, startBody.parse({ module: "maker", target: WORKSPACE }));
    await storeWorkflow(test.deps, watching("shop"));
    await test.drain(["bash"]);
    const one = await layer("l1", { "a.txt": file("a") });
    // The process ends after the commit and before it publishes to the bus.
    const lost = test.deps.outbox.commit;
    test.deps.outbox.commit = async ({ publish: _lost, ...commit }) => lost(commit);
    await result("a", one);
    test.deps.outbox.commit = lost;
    await test.drain(["bash"]);
    expect(await fires()).toEqual([]);
    await result("a", one);
    await result("a", one);
    await test.drain(["bash"]);
    expect(await fires()).toEqual(["new shop/a.txt"]);
    const { records } = await readLog(test.deps, { topic: "schedule.triggered" });
    expect(records).toMatchObject([{ workspace: WORKSPACE, error: "" }]);
  });

  it("fires no triggers if its result is ignored", async () => {
    await storeWorkflow(test.deps, "name: maker\nsteps: [{name: a, type: bash, command: echo}]\n");
    await startRun(test.deps, startBody.parse({ module: "maker", target: WORKSPACE }));
    await storeWorkflow(test.deps, watching("shop"));
    await test.drain(["bash"]);
    const [run] = await readRuns(test.deps);
    await conduct(test.deps, { run_id: run?.run_id ?? "", input: { type: "cancel", reason: "" } });
    await result("a", await layer("l1", { "a.txt": file("a") }));
    await test.drain(["bash"]);
    expect(await fires()).toEqual([]);
  });
});
