import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emitEvent } from "../../events/emit.ts";
import { eventKey, eventLogTable } from "../../events/log/table.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { onTopic, readLog, readRuns, runValues, storeWorkflow } from "../../testing/test-workflows.ts";
import { deleteWorkflow } from "../store/store.ts";
import { dispatchEvent } from "./dispatch-event.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const emit = async (topic: string, data = {}): Promise<string> =>
  (await emitEvent(test.deps, { topic, data })).event_id.slice("evt_".length);
const names = async (): Promise<string[]> =>
  (await readRuns(test.deps)).map(({ workflow_name }) => workflow_name).toSorted();

describe("matching", () => {
  it("stores the matches with the event, and dispatch starts exactly those", async () => {
    await storeWorkflow(test.deps, onTopic("a", "custom.x"));
    await storeWorkflow(test.deps, onTopic("b", "custom.*"));
    await storeWorkflow(test.deps, onTopic("c", "custom.?"));
    await storeWorkflow(test.deps, onTopic("d", "Custom.x"));
    const id = await emit("custom.x");
    const stored = await test.deps.tables.get(eventLogTable, eventKey(id));
    expect(stored?.matches.map(({ workflow, trigger, revision }) => [workflow, trigger, revision])).toEqual([
      ["a", "heard", 1],
      ["b", "heard", 1],
      ["c", "heard", 1],
    ]);
    // Changes between the event and its dispatch have no effect.
    await deleteWorkflow(test.deps, "a");
    await storeWorkflow(test.deps, onTopic("b", "custom.other"));
    await storeWorkflow(test.deps, onTopic("late", "custom.x"));
    await test.drain();
    expect(await names()).toEqual(["a", "b", "c"]);
  });

  it("runs the revision that was current when the event was recorded", async () => {
    await storeWorkflow(test.deps, onTopic("a", "custom.x", ["old"]));
    await emit("custom.x");
    await storeWorkflow(test.deps, onTopic("a", "custom.x", ["new", "newer"]));
    await test.drain();
    expect(await readRuns(test.deps)).toMatchObject([{ workflow_revision: 1, total_steps: 1 }]);
  });

  it("ignores disabled and deleted triggers, and uses new ones immediately", async () => {
    await storeWorkflow(test.deps, onTopic("a", "custom.x").replace('"}', '", enabled: false}'));
    expect((await emitEvent(test.deps, { topic: "custom.x" })).triggered_workflows).toEqual([]);
    await storeWorkflow(test.deps, onTopic("a", "custom.x"));
    expect((await emitEvent(test.deps, { topic: "custom.x" })).triggered_workflows).toEqual(["a"]);
    await deleteWorkflow(test.deps, "a");
    expect((await emitEvent(test.deps, { topic: "custom.x" })).triggered_workflows).toEqual([]);
  });

  it.each([
    ["assets.new", "asset.discovered"],
    ["asset.discovered", "assets.new"],
    ["asset.discovered", "asset.discovered"],
    ["assets.updated", "asset.updated"],
    ["asset*", "assets.new"],
  ])("a trigger on %s matches %s, once", async (listened, emitted) => {
    await storeWorkflow(test.deps, onTopic("a", listened));
    await emit(emitted, { note: "no asset" });
    await test.drain();
    expect(await names()).toEqual(["a"]);
  });

  it("a workflow with both spellings fires once", async () => {
    await storeWorkflow(
      test.deps,
      onTopic("a", "assets.new").replace(
        "steps:",
        "  - {name: also, type: event, topic: asset.discovered}\nsteps:",
      ),
    );
    await emit("assets.new");
    await emit("asset.discovered");
    await test.drain();
    expect(await names()).toEqual(["a", "a"]);
  });
});

describe("dispatch", () => {
  it("starts each run once with repeated and concurrent deliveries of the event", async () => {
    await storeWorkflow(test.deps, onTopic("a", "custom.x"));
    await storeWorkflow(test.deps, onTopic("b", "custom.x"));
    const id = await emit("custom.x");
    await Promise.all([
      dispatchEvent(test.deps, id),
      dispatchEvent(test.deps, id),
      dispatchEvent(test.deps, id),
    ]);
    await dispatchEvent(test.deps, id);
    await test.drain();
    expect(await names()).toEqual(["a", "b"]);
    expect((await readLog(test.deps, { topic: "run.started" })).total).toBe(2);
    expect((await readLog(test.deps, { topic: "run.completed" })).total).toBe(2);
  });

  it("ignores an unknown event", async () => {
    await expect(dispatchEvent(test.deps, "01900000-0000-7000-8000-000000000000")).resolves.toBeUndefined();
  });

  it("passes the event to the run: as parameters through the trigger's input, and as values", async () => {
    await storeWorkflow(
      test.deps,
      `name: a
params: [{name: target, required: true}]
triggers:
  - {name: heard, type: event, topic: custom.x, input: {target: event_data.repo.name, topic: event.topic, fixed: plain text, gone: event_data.nothing, list: event_data.tags}}
steps: [{name: only, type: bash, command: "echo"}]
`,
    );
    const id = await emit("custom.x", { repo: { name: "weft; rm -rf /" }, tags: [1, "b"] });
    await test.drain();
    const [run] = await readRuns(test.deps);
    expect(run).toMatchObject({
      status: "completed",
      target: "weft; rm -rf /",
      params: { target: "weft; rm -rf /", topic: "custom.x", fixed: "plain text", gone: "", list: '[1,"b"]' },
      trigger_type: "event",
      trigger_name: "heard",
      event_id: id,
    });
    const { values } = await runValues(test.deps, run?.run_id ?? "");
    expect(values).toMatchObject({
      EventTopic: "custom.x",
      event_data: { tags: [1, "b"] },
      EventSource: "api",
    });
    expect(JSON.parse(String(values.EventEnvelope))).toMatchObject({
      topic: "custom.x",
      id,
      data: { tags: [1, "b"] },
    });
  });

  it("records a run that cannot start as failed, with its event, and continues with the others", async () => {
    await storeWorkflow(
      test.deps,
      "name: needs\nparams: [{name: target, required: true}]\ntriggers: [{name: t, type: event, topic: custom.x}]\nsteps: [{name: a, type: bash, command: echo}]\n",
    );
    await storeWorkflow(
      test.deps,
      "name: flow\ntriggers: [{name: t, type: event, topic: custom.x}]\nmodules: [{name: m, path: nowhere.yaml}]\n",
    );
    await storeWorkflow(test.deps, onTopic("fine", "custom.x"));
    expect((await emitEvent(test.deps, { topic: "custom.x" })).triggered_workflows.toSorted()).toEqual([
      "fine",
      "flow",
      "needs",
    ]);
    await test.drain();
    const runs = (await readRuns(test.deps)).map(({ workflow_name, status, error_message }) => [
      workflow_name,
      status,
      error_message,
    ]);
    expect(runs.toSorted()).toEqual([
      ["fine", "completed", ""],
      ["flow", "failed", "Workflow not found: nowhere"],
      ["needs", "failed", "required parameter missing: target"],
    ]);
    expect((await readLog(test.deps, { topic: "run.failed" })).total).toBe(2);
    expect((await readLog(test.deps, { topic: "custom.x", processed: true })).total).toBe(1);
  });

  it("accepts parameters as large as an event may be", async () => {
    await storeWorkflow(
      test.deps,
      "name: a\ntriggers: [{name: t, type: event, topic: custom.x, input: {body: event_data.text, target: event_data.target}}]\nsteps: [{name: a, type: bash, command: echo}]\n",
    );
    await emit("custom.x", { text: "x".repeat(900_000), target: "t" });
    await emit("custom.x", { text: "x", target: "y".repeat(500_000) });
    await test.drain();
    const runs = await readRuns(test.deps);
    expect(runs.map(({ target, status }) => [target.slice(0, 3), status]).toSorted()).toEqual([
      ["t", "completed"],
      ["yyy", "failed"],
    ]);
    const fine = runs.find(({ status }) => status === "completed");
    expect(fine?.params.body?.length).toBeLessThan(2_000);
    const { values } = await runValues(test.deps, fine?.run_id ?? "");
    expect(String(values.body)).toHaveLength(900_000);
  });
});
