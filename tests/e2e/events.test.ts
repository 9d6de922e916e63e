import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

let weft: TestServer;
beforeAll(async () => {
  weft = await startTestServer();
  await weft.storeWorkflow(
    "name: on-custom\ntriggers: [{type: event, topic: custom.matched}]\nsteps: [{name: s, type: bash, command: 'true'}]",
  );
  await weft.storeWorkflow(
    "name: on-glob\ntriggers: [{on: event, event: {topic: 'custom.matc?e*'}}, {type: event, topic: custom.matched}]\nsteps: [{name: s, type: bash, command: 'true'}]",
  );
  await weft.storeWorkflow(
    "name: switched-off\ntriggers: [{type: event, topic: custom.matched, enabled: false}]\nsteps: [{name: s, type: bash, command: 'true'}]",
  );
});
afterAll(() => weft[Symbol.asyncDispose]());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const FIELDS = [
  "id",
  "topic",
  "event_id",
  "name",
  "source",
  "data_type",
  "data",
  "workspace",
  "run_id",
  "workflow_name",
  "processed",
  "processed_at",
  "error",
  "created_at",
];

/** Reads the record of a response's `evt_…` id, without waiting. */
async function recordOf(eventId: string) {
  const bare = eventId.replace(/^evt_/, "");
  const record = (await weft.events()).find((event) => event.event_id === bare);
  if (record === undefined) throw new Error(`the log has no ${bare}`);
  return record;
}

describe("seed 4: POST /events/emit", () => {
  test("returns the id, no workflows and a note if no trigger matches", async () => {
    const answer = await weft.call("POST", "/events/emit", {
      body: { topic: "custom.alone", data: { a: 1 } },
    });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      message: expect.any(String),
      topic: "custom.alone",
      event_id: expect.stringMatching(/^evt_/),
      triggered_workflows: [],
      note: expect.stringMatching(/no workflows matched/i),
    });
    expect((answer.json as { event_id: string }).event_id.slice(4)).toMatch(UUID);
  });

  test("names each triggered workflow once, without a note, and starts a run for each trigger", async () => {
    const answer = await weft.emit({ topic: "custom.matched" });
    expect([...answer.triggered_workflows].sort()).toEqual(["on-custom", "on-glob"]);
    expect(answer).not.toHaveProperty("note");
    const eventId = answer.event_id.slice(4);
    await waitUntil("the record to be processed", async () => (await recordOf(eventId)).processed);
    const { data } = await weft.get<Page<{ workflow_name: string; event_id: string }>>("/runs?limit=100");
    const started = data.filter((run) => run.event_id === eventId).map((run) => run.workflow_name);
    expect(started.sort()).toEqual(["on-custom", "on-glob", "on-glob"]);
  });

  test("writes a record with the 14 fields before the response", async () => {
    const { event_id } = await weft.emit({ topic: "custom.fields", data: { deep: { list: [1, "ä€😀"] } } });
    const record = await recordOf(event_id);
    expect(Object.keys(record)).toEqual(FIELDS);
    expect(record).toMatchObject({
      id: expect.any(Number),
      topic: "custom.fields",
      event_id: event_id.slice(4),
      name: "custom.fields",
      source: "api",
      data_type: "",
      data: '{"deep":{"list":[1,"ä€😀"]}}',
      workspace: "",
      run_id: "",
      workflow_name: "",
      error: "",
      created_at: expect.stringMatching(ISO),
    });
    const processed = await waitUntil("it to be processed", async () => {
      const now = await recordOf(event_id);
      return now.processed && now;
    });
    expect(processed.processed_at).toMatch(ISO);
    expect(Object.keys(processed)).toEqual(FIELDS);
  });

  test.each([
    ["absent", {}],
    ["null", { data: null }],
    ["empty", { data: {} }],
  ])("logs %s data as {}", async (_name, body) => {
    const { event_id } = await weft.emit({ topic: "custom.empty", ...body });
    expect((await recordOf(event_id)).data).toBe("{}");
  });

  test.each([
    ["name", "n"],
    ["source", "scanner"],
    ["data_type", "scan"],
    ["workspace", "acme"],
    ["run_id", "run-1"],
    ["workflow_name", "wf"],
  ] as const)("stores %s; an empty value and null count as absent", async (field, value) => {
    const { event_id } = await weft.emit({ topic: "custom.spelled", [field]: value });
    expect((await recordOf(event_id))[field]).toBe(value);
    const otherwise = { name: "custom.spelled", source: "api" }[field as string] ?? "";
    for (const nothing of ["", null]) {
      const bare = await weft.emit({ topic: "custom.spelled", [field]: nothing });
      expect((await recordOf(bare.event_id))[field]).toBe(otherwise);
    }
  });

  test("run_uuid is an alias of run_id; unknown fields are ignored", async () => {
    const { event_id } = await weft.emit({
      topic: "custom.uuid",
      run_uuid: "run-2",
      source_type: "x",
      colour: [1],
    });
    expect((await recordOf(event_id)).run_id).toBe("run-2");
  });

  test.each(["x", "a b", "Ünïcode.✓", "x".repeat(256), "run.completed", "*", "'; DROP TABLE events;--"])(
    "accepts any non-empty topic: %s",
    async (topic) => {
      // Runs of other tests emit run.completed, too.
      const answer = await weft.emit({ topic });
      expect(answer.topic).toBe(topic);
      expect((await weft.events({ topic, source: "api" }))[0]?.event_id).toBe(answer.event_id.slice(4));
    },
  );

  test.each([
    ["no topic", { data: {} }, "topic"],
    ["an empty topic", { topic: "" }, "topic"],
    ["a blank topic", { topic: "  " }, "topic"],
    ["a topic of 257 characters", { topic: "x".repeat(257) }, "topic"],
    ["a topic that is a number", { topic: 7 }, "topic"],
    ["a topic that is null", { topic: null }, "topic"],
    ["data as a list", { topic: "a", data: [] }, "data"],
    ["data as text", { topic: "a", data: "{}" }, "data"],
    ["data as a number", { topic: "a", data: 0 }, "data"],
    ["data as false", { topic: "a", data: false }, "data"],
    ["a name that is an object", { topic: "a", name: {} }, "name"],
    ["a workspace that is a number", { topic: "a", workspace: 1 }, "workspace"],
  ])("rejects %s with 400 and the field's name, and logs no event", async (_name, body, field) => {
    const before = (await weft.events({ topic: "a" })).length;
    const answer = await weft.call("POST", "/events/emit", { body });
    expect([answer.status, answer.json]).toEqual([
      400,
      { error: true, message: expect.stringContaining(field) },
    ]);
    expect((await weft.events({ topic: "a" })).length).toBe(before);
  });

  test("the log and the triggered workflow get data above 200 KB unchanged", async () => {
    await weft.storeWorkflow(
      "name: on-large\ntriggers: [{type: event, topic: custom.large}]\nsteps:\n- {name: size, type: bash, command: 'printf %s {{EventData}} | wc -c'}",
    );
    const text = '<ä"\\😀>'.repeat(30_000);
    const { event_id } = await weft.emit({ topic: "custom.large", data: { text } });
    const record = await recordOf(event_id);
    expect(JSON.parse(record.data)).toEqual({ text });
    const { data } = await waitUntil("the run", async () => {
      const page = await weft.get<Page<{ run_id: string }>>("/runs?workflow=on-large");
      return page.data.length > 0 && page;
    });
    const { run_id } = data[0] as { run_id: string };
    expect((await weft.waitForRun(run_id)).status).toBe("completed");
    expect(Number((await weft.steps(run_id))["size"]?.output)).toBe(Buffer.byteLength(record.data));
  });

  test("stores keys such as __proto__ like any other", async () => {
    const body =
      '{"topic":"custom.proto","data":{"__proto__":{"polluted":true},"constructor":{"prototype":1}},"__proto__":{"name":"no"}}';
    const answer = await weft.call("POST", "/events/emit", { body });
    expect(answer.status).toBe(200);
    const [record] = await weft.events({ topic: "custom.proto" });
    expect(record?.data).toBe('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}');
    expect(record?.name).toBe("custom.proto");
  });
});

describe("event triggers", () => {
  test("assets.new and asset.discovered are aliases; a workflow with both topics fires once", async () => {
    await weft.storeWorkflow(
      "name: both\ntriggers: [{type: event, topic: assets.new}, {type: event, topic: asset.discovered}]\nsteps: [{name: s, type: bash, command: 'true'}]",
    );
    for (const topic of ["assets.new", "asset.discovered"]) {
      const answer = await weft.emit({ topic, data: { value: `both.${topic}` } });
      expect(answer.triggered_workflows).toEqual(["both"]);
      const eventId = answer.event_id.slice(4);
      await waitUntil("the record to be processed", async () => (await recordOf(eventId)).processed);
      const { data } = await weft.get<Page<{ event_id: string }>>("/runs?workflow=both");
      expect(data.filter((run) => run.event_id === eventId)).toHaveLength(1);
    }
  });

  test("the run has the event's id and takes its params from the event", async () => {
    await weft.storeWorkflow(`name: from-event
triggers:
  - type: event
    topic: custom.deploy
    input: {target: event_data.host.name, how: event.topic, list: event_data.list, word: plain text}
steps:
  - {name: s, type: bash, command: 'printf "%s|" {{Target}} {{how}} {{list}} {{word}} {{event.data.host.name}}'}`);
    const answer = await weft.emit({ topic: "custom.deploy", data: { host: { name: "h 1" }, list: [1, 2] } });
    const run = await waitUntil("the run", async () => {
      const { data } =
        await weft.get<Page<{ run_id: string; trigger_type: string; event_id: string }>>(
          "/runs?workflow=from-event",
        );
      return data[0];
    });
    expect(run).toMatchObject({ trigger_type: "event", event_id: answer.event_id.slice(4) });
    expect(await weft.waitForRun(run.run_id)).toMatchObject({ target: "h 1", status: "completed" });
    expect((await weft.steps(run.run_id))["s"]?.output).toBe("h 1|custom.deploy|[1,2]|plain text|h 1|");
  });

  test("stops an event loop at a limit, with an error in the log", async () => {
    await weft.storeWorkflow(`name: echo
triggers: [{type: event, topic: custom.echo}]
steps: [{name: s, type: function, function: 'generate_event("w", "custom.echo", "echo", "x", {n: 1})'}]`);
    await weft.emit({ topic: "custom.echo" });
    const cut = await waitUntil("the loop to be cut", async () =>
      (await weft.events({ topic: "custom.echo" })).find((event) => event.error !== ""),
    );
    expect(cut.error).toMatch(/loop/);
    const count = (await weft.events({ topic: "custom.echo" })).length;
    expect(count).toBeLessThan(20);
    expect(weft.log()).toContain("stopped an event loop");
    await waitUntil("all of them to be processed", async () =>
      (await weft.events({ topic: "custom.echo" })).every((event) => event.processed),
    );
    expect((await weft.events({ topic: "custom.echo" })).length).toBe(count);
  });

  test("the events of a run do not trigger its own workflow, even for topic *", async () => {
    await weft.storeWorkflow(
      "name: everything\ntriggers: [{type: event, topic: '*'}]\nsteps: [{name: s, type: bash, command: 'true'}]",
    );
    await weft.emit({ topic: "custom.once" });
    await waitUntil("everything to be processed", async () => {
      const { data } = await weft.get<Page<{ status: string }>>("/runs?workflow=everything&limit=100");
      const open = await weft.events({ processed: "false" });
      return data.length > 0 && open.length === 0 && data.every((run) => run.status === "completed");
    });
    const { pagination } = await weft.get<Page<unknown>>("/runs?workflow=everything");
    expect(pagination.total).toBe(1);
    await weft.call("DELETE", "/workflows/everything");
  });
});
