import { afterEach, beforeEach, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { onTopic, readLog, storeWorkflow } from "#lib/testing/test-workflows.ts";
import * as emit from "./emit.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const send = (body: unknown) => call(test.deps, emit.route, { body });
const events = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ topic: "custom.x", name: `n${n}` }));

it("responds to an array with the responses to its events, in order", async () => {
  await storeWorkflow(test.deps, onTopic("heard", "custom.heard"));
  const one = await send({ topic: "custom.heard" });
  const { status, body } = await send([...events(998), { topic: "custom.heard" }, { topic: "custom.y" }]);
  expect(status).toBe(200);
  expect(body).toHaveLength(1_000);
  expect(body[998]).toEqual({ ...one.body, event_id: expect.stringMatching(/^evt_/) });
  expect(body[999]).toMatchObject({ topic: "custom.y", triggered_workflows: [], note: expect.any(String) });
  expect((await readLog(test.deps)).total).toBe(1_001);
});

it.each([
  [[{ topic: "a" }, { topic: "b" }, {}], "2.topic: must be text"],
  [[{ topic: "a" }, "b"], "1: must be an object"],
  [[{ topic: "a", data: [] }], "0.data: must be an object"],
  [[{ topic: "a" }, { topic: " " }], "1.topic: must not be empty"],
  [[...events(400), { topic: "a", name: "x\u0000" }], "400.name: must not contain control characters"],
  [[], "body: must have at least 1 event"],
])("refuses all events if one is invalid, and names its field: %#", async (body, message) => {
  expect(await send(body)).toMatchObject({ status: 400, body: { error: true, message } });
  expect((await readLog(test.deps)).total).toBe(0);
});

it("refuses more than 1,000 events", async () => {
  const { status, body } = await send(events(1_001));
  expect([status, body.message]).toEqual([413, "body: must have at most 1000 events"]);
  expect((await readLog(test.deps)).total).toBe(0);
});

it("refuses a body of more than 1 MiB", async () => {
  const { status, body } = await send(Array(100).fill({ topic: "a", data: { text: "x".repeat(11_000) } }));
  expect([status, body.message]).toEqual([413, "body: must be at most 1048576 bytes"]);
});
