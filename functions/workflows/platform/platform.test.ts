import { afterEach, expect, it } from "vitest";
import { startRecording, stopRecording } from "#lib/platform/high-water-marks.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { onTopic, storeWorkflow } from "#lib/testing/test-workflows.ts";
import { startBody, startRun } from "#lib/workflows/runs/start.ts";
import { route } from "./get.ts";

let test: TestDeps;
afterEach(async () => {
  stopRecording();
  await test.close();
});

const read = async (more: Partial<TestDeps["deps"]> = {}) => {
  const { status, body } = await call({ ...test.deps, ...more }, route, { method: "GET" });
  expect(status).toBe(200);
  expect(() => route.response.parse(body)).not.toThrow();
  return body.data;
};
const named = (rows: readonly { readonly name: string }[], name: string) =>
  rows.find((row) => row.name === name);

it("lists the template's resources, and how many messages wait in each queue", async () => {
  test = await testDeps();
  await storeWorkflow(test.deps, onTopic("one", "custom.one"));
  await startRun(test.deps, startBody.parse({ module: "one" }));
  const overview = await read();
  expect(overview).toMatchObject({
    platform: "embedded",
    stack: null,
    health: { status: "ready", message: "" },
    runs: { running: 0, pending: 1 },
    dead_letters: 0,
  });
  expect(named(overview.functions, "ListRunsFunction")).toMatchObject({
    kind: "endpoint",
    routes: ["GET /automation/runs"],
    queues: [],
  });
  expect(
    overview.functions.filter(({ queues }: { queues: string[] }) => queues.includes("bash")),
  ).toMatchObject([{ kind: "executor" }]);
  expect(named(overview.queues, "conduct")).toMatchObject({
    fifo: true,
    visible: 1,
    in_flight: 0,
    delayed: 0,
  });
  expect(named(overview.tables, "runs")).toEqual({ name: "runs", indexes: ["active", "unfinished"] });
  expect(overview.rules.length).toBeGreaterThan(0);
  expect(overview.schedules).toContainEqual(expect.objectContaining({ expression: "rate(1 minute)" }));
});

it("shows settings in effect, and no secrets", async () => {
  const key = "a-key-that-nobody-may-see";
  const providers = JSON.stringify([{ name: "p", base_url: "https://llm.example/v1", api_key: key }]);
  test = await testDeps({
    settings: {
      RUNS_CONCURRENCY_MAX: "7",
      LLM_API_KEY: key,
      LLM_PROVIDERS: providers,
      DOCUMENT_SETTINGS: JSON.stringify({ LANGUAGE_CODE: "fr-fr" }),
    },
  });
  const overview = await read();
  expect(named(overview.settings, "RUNS_CONCURRENCY_MAX")).toMatchObject({ value: "7", is_set: true });
  expect(named(overview.settings, "LANGUAGE_CODE")).toMatchObject({ value: "fr-fr", is_set: true });
  expect(named(overview.settings, "WEFT_STACK")).toMatchObject({ value: "weft", is_set: false });
  for (const name of ["LLM_API_KEY", "LLM_PROVIDERS"])
    expect(named(overview.settings, name)).toMatchObject({ value: null, is_set: true, is_secret: true });
  expect(overview.runs.concurrency_max).toBe(7);
  expect(JSON.stringify(overview)).not.toContain(key);
});

it("says what does not respond, and shows the rest", async () => {
  test = await testDeps();
  const depth = async (name: string) => {
    if (name === "bash") throw new Error("no response");
    return test.deps.queues.depth(name);
  };
  const overview = await read({ queues: { ...test.deps.queues, depth } });
  expect(overview.health).toMatchObject({ status: "unavailable", message: "The queues do not respond" });
  expect(named(overview.queues, "bash")).toMatchObject({ visible: null, in_flight: null });
  expect(named(overview.queues, "http")).toMatchObject({ visible: 0 });
});

it("shows the largest value of each limit only where values are recorded", async () => {
  test = await testDeps();
  expect(named((await read()).limits, "itemBytes")).toMatchObject({ limit: 409_600, largest: null });
  startRecording();
  await storeWorkflow(test.deps, onTopic("one", "custom.one"));
  const { largest } = named((await read()).limits, "itemBytes") as unknown as { largest: number };
  expect(largest).toBeGreaterThan(0);
});

it("requires the owner", async () => {
  test = await testDeps();
  expect((await call(test.deps, route, { method: "GET", token: null })).status).toBe(401);
  const auth = {
    ...test.deps.auth,
    authenticate: async () => ({ kind: "user", id: "u1" }) as const,
  };
  expect((await call({ ...test.deps, auth }, route, { method: "GET" })).status).toBe(403);
});
