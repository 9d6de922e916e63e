import { afterEach, beforeEach, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { onTopic, readLog, storeWorkflow } from "#lib/testing/test-workflows.ts";
import * as emit from "./emit.ts";
import * as get from "./get.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

it("returns an event with its data, and the event that it goes back to", async () => {
  await storeWorkflow(test.deps, onTopic("w", "custom.x"));
  const large = "x".repeat(300_000);
  const sent = await call(test.deps, emit.route, { body: { topic: "custom.x", data: { large } } });
  await test.drain();
  const { status, body } = await call(test.deps, get.route, { params: { id: sent.body.event_id } });
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ topic: "custom.x", hop: 0, processed: true });
  expect(JSON.parse(body.data.data)).toEqual({ large });
  expect(body.data).toMatchObject({ root_cause: body.data.event_id });
  const { records } = await readLog(test.deps, { topic: "run.started" });
  const own = await call(test.deps, get.route, { params: { id: records[0]?.event_id ?? "" } });
  expect(own.body.data).toMatchObject({ hop: 1, root_cause: body.data.event_id });
});

it("is 404 for an unknown or malformed id", async () => {
  for (const id of ["unknown", "evt_", "x".repeat(2_000)])
    expect(await call(test.deps, get.route, { params: { id } })).toMatchObject({ status: 404 });
});
