import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { emitEvent } from "../../events/emit.ts";
import { EVENT_HOPS_MAX, emitEvents } from "../../events/publish.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { collectPages, onTopic, storeWorkflow } from "../../testing/test-workflows.ts";
import { explainMatches } from "./explain-matches.ts";

let test: TestDeps;
afterEach(() => test.close());

const reasonsOf = async (eventId: string): Promise<string[]> => {
  const { items } = await explainMatches(test.deps, eventId, { offset: 0, limit: 20 });
  return (await collectPages(items)).map(({ workflow, reason }) => `${workflow} ${reason}`.trim());
};

it("names the rate of a trigger that has fired too often", async () => {
  test = await testDeps({ firesPerMinute: 1 });
  await storeWorkflow(test.deps, onTopic("w", "custom.x"));
  const [first, second] = [
    await emitEvent(test.deps, { topic: "custom.x" }),
    await emitEvent(test.deps, { topic: "custom.x" }),
  ];
  expect(await reasonsOf(first.event_id)).toEqual(["w"]);
  expect(await reasonsOf(second.event_id)).toEqual(["w rate"]);
});

it("names event loops, own runs and both spellings of a topic", async () => {
  test = await testDeps();
  await storeWorkflow(test.deps, onTopic("w", "run.*"));
  await storeWorkflow(
    test.deps,
    "name: both\ntriggers:\n  - {name: one, type: event, topic: asset.discovered}\n  - {name: two, type: event, topic: assets.new}\nsteps: [{name: a, type: bash, command: echo}]\n",
  );
  const draft = { topic: "run.completed", source: "executor", data: {}, workflow_name: "w" };
  const [own] = await emitEvents(test.deps, [{ ...draft, hop: 1 }]);
  expect(await reasonsOf(own?.event_id ?? "")).toContain("w own_run");
  const [loop] = await emitEvents(test.deps, [{ ...draft, workflow_name: "v", hop: EVENT_HOPS_MAX + 1 }]);
  expect(await reasonsOf(loop?.event_id ?? "")).toContain("w event_loop");
  const asset = { asset_value: "a.example", asset_type: "domain", workspace: "s" };
  const [found] = await emitEvents(test.deps, [{ topic: "asset.discovered", source: "api", data: asset }]);
  expect(await reasonsOf(found?.event_id ?? "")).toEqual(["both", "both other_spelling", "w topic"]);
});

it("names a disabled event receiver", async () => {
  test = await testDeps({ receiverEnabled: false });
  await storeWorkflow(test.deps, onTopic("w", "custom.x"));
  const { event_id } = await emitEvent(test.deps, { topic: "custom.x" });
  expect(await reasonsOf(event_id)).toEqual(["w receiver_disabled"]);
});

it("does not say that a filter over a secret was false, because the log does not have the secret", async () => {
  const secret = "hunter-22-hunter";
  test = await testDeps({
    script: async ({ variables }) => {
      const { token, n } = (variables as { event: { data: { token: string; n: number } } }).event.data;
      return { value: token === secret && n === 2 };
    },
  });
  await writeFile(join(test.folder, "secrets.env"), `TOKEN=${secret}\n`, { mode: 0o600 });
  expect(await test.deps.secrets.get("TOKEN")).toBe(secret);
  const workflow = (name: string, filters: string) =>
    `name: ${name}\ntriggers: [{name: t, type: event, topic: custom.x, filter_functions: [${filters}]}]\nsteps: [{name: a, type: bash, command: echo}]\n`;
  await storeWorkflow(test.deps, workflow("both", `"f(event.data.token)", "f(event.data.n)"`));
  await storeWorkflow(test.deps, workflow("whole", `"f(event)"`));
  const { event_id } = await emitEvent(test.deps, { topic: "custom.x", data: { token: secret, n: 1 } });
  const { items } = await explainMatches(test.deps, event_id, { offset: 0, limit: 20 });
  const [both, whole] = await collectPages(items);
  expect(both).toMatchObject({ reason: "filter", filter: { expression: "f(event.data.n)" } });
  expect(whole).toMatchObject({ reason: "unknown", detail: expect.stringContaining("secret value") });
  expect(JSON.stringify([both, whole])).not.toContain(secret);
  const matched = await emitEvent(test.deps, { topic: "custom.x", data: { token: secret, n: 2 } });
  expect(await reasonsOf(matched.event_id)).toEqual(["both", "whole"]);
});

it("shows the values of a filter that does not hold, also lengths", async () => {
  test = await testDeps({ script: async () => ({ value: false }) });
  await storeWorkflow(
    test.deps,
    'name: w\ntriggers:\n  - name: t\n    type: event\n    topic: custom.x\n    filters: ["event.data.list.length > event.data.least"]\nsteps: [{name: a, type: bash, command: echo}]\n',
  );
  const { event_id } = await emitEvent(test.deps, { topic: "custom.x", data: { list: [1, 2] } });
  const { items } = await explainMatches(test.deps, event_id, { offset: 0, limit: 20 });
  expect((await collectPages(items))[0]?.filter).toEqual({
    expression: "event.data.list.length > event.data.least",
    error: "",
    values: { "event.data.list.length": 2, "event.data.least": null },
  });
});
