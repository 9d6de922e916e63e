import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../testing/test-deps.ts";
import { onTopic, readLog, storeWorkflow } from "../testing/test-workflows.ts";
import { emitBody, emitEvent } from "./emit.ts";
import { EVENT_HOPS_MAX, emitEvents } from "./publish.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const emit = (body: unknown) => emitEvent(test.deps, emitBody.parse(body));

describe("emitting an event", () => {
  it.each(["topic", "name", "source", "data_type", "workspace", "run_id", "workflow_name"])(
    "refuses control characters in %s, and names the field",
    (field) => {
      for (const character of ["\0", "\u001b[31m", "\n", "\u007f", "\u009b"]) {
        const parsed = emitBody.safeParse({ topic: "custom.a", [field]: `custom.${character}a` });
        expect(parsed.error?.issues.map(({ path, message }) => [path[0], message])).toEqual([
          [field, "must not contain control characters"],
        ]);
      }
    },
  );

  it.each(["run_id", "run_uuid", "workflow_name"])(
    "refuses %s of more bytes than a key has, and names the field",
    (field) => {
      const body = { topic: "run.completed" };
      const issues = emitBody.safeParse({ ...body, [field]: "界".repeat(214) }).error?.issues;
      expect(issues?.map(({ path, message }) => [path[0], message])).toEqual([
        [field, "must be at most 640 bytes in UTF-8"],
      ]);
      expect(emitBody.safeParse({ ...body, [field]: "a".repeat(641) }).success).toBe(false);
      expect(emitBody.safeParse({ ...body, [field]: "界".repeat(213) }).success).toBe(true);
    },
  );

  it("rejects control characters in an event's labels from every publisher, and records nothing", async () => {
    const draft = { topic: "custom.a", source: "snapshot", data: { text: "\u001b[31m" } };
    for (const field of ["topic", "name", "source", "data_type", "workspace", "run_id", "workflow_name"])
      await expect(
        emitEvents(test.deps, [draft, { ...draft, [field]: "custom.\u001b[31m" }]),
      ).rejects.toThrow(
        expect.objectContaining({
          code: "bad_request",
          message: `${field}: must not contain control characters`,
        }),
      );
    expect((await readLog(test.deps)).total).toBe(0);
    const [record] = await emitEvents(test.deps, [draft]);
    expect(JSON.parse(record?.data ?? "")).toEqual({ text: "\u001b[31m" });
  });

  it("records all fourteen fields before the response", async () => {
    const answer = await emit({ topic: "custom.deploy", data: { version: "1.2", nested: { a: [1] } } });
    expect(answer).toEqual({
      message: "Event emitted successfully",
      topic: "custom.deploy",
      event_id: expect.stringMatching(/^evt_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      triggered_workflows: [],
      note: "No workflows matched this topic",
    });
    const { total, records } = await readLog(test.deps);
    expect(total).toBe(1);
    expect(records).toEqual([
      {
        id: 1,
        topic: "custom.deploy",
        event_id: answer.event_id.slice("evt_".length),
        name: "custom.deploy",
        source: "api",
        data_type: "",
        data: '{"version":"1.2","nested":{"a":[1]}}',
        workspace: "",
        run_id: "",
        workflow_name: "",
        processed: true,
        processed_at: "2026-03-02T10:00:00.000Z",
        error: "",
        created_at: "2026-03-02T10:00:00.000Z",
      },
    ]);
  });

  it("accepts the alternative spellings, and logs missing data as an empty object", async () => {
    await emit({
      topic: "any.topic",
      data: null,
      name: "n",
      source: "s",
      data_type: "t",
      workspace: "w",
      run_uuid: "r",
      workflow_name: "f",
      whatever: 1,
    });
    const { records } = await readLog(test.deps);
    expect(records[0]).toMatchObject({
      name: "n",
      source: "s",
      data_type: "t",
      workspace: "w",
      run_id: "r",
      workflow_name: "f",
      data: "{}",
    });
  });

  it.each([[[1]], ["text"], [7], [true]])("rejects data that is not an object: %j", (data) => {
    expect(emitBody.safeParse({ topic: "custom.x", data }).success).toBe(false);
  });

  it.each([[undefined], [""], [7], ["x".repeat(257)]])("rejects the topic %j", (topic) => {
    expect(emitBody.safeParse({ topic }).success).toBe(false);
  });

  it("rejects a blank topic", async () => {
    await expect(emit({ topic: "  " })).rejects.toMatchObject({ code: "bad_request" });
    expect((await readLog(test.deps)).total).toBe(0);
  });

  it("returns each triggered workflow once, without a note", async () => {
    const twice = onTopic("twice", "custom.*").replace(
      "steps:",
      '  - {name: again, type: event, topic: "custom.x"}\nsteps:',
    );
    await storeWorkflow(test.deps, twice);
    await storeWorkflow(test.deps, onTopic("other", "custom.x"));
    await storeWorkflow(test.deps, onTopic("deaf", "custom.y"));
    const answer = await emit({ topic: "custom.x" });
    expect(answer.triggered_workflows.toSorted()).toEqual(["other", "twice"]);
    expect(answer).not.toHaveProperty("note");
    expect((await readLog(test.deps)).records[0]).toMatchObject({ processed: false, processed_at: null });
  });

  it("stores keys such as __proto__ as plain data", async () => {
    await emit({ topic: "custom.x", data: JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') });
    expect((await readLog(test.deps)).records[0]?.data).toBe(
      '{"__proto__":{"polluted":true},"constructor":1}',
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("logs the event with a note and triggers nothing while the receiver is off", async () => {
    const off = await testDeps({ receiverEnabled: false });
    await storeWorkflow(off.deps, onTopic("other", "custom.x"));
    const answer = await emitEvent(off.deps, emitBody.parse({ topic: "custom.x" }));
    expect(answer.triggered_workflows).toEqual([]);
    expect(answer.note).toContain("disabled");
    expect((await readLog(off.deps)).total).toBe(1);
    await off.close();
  });
});

describe("large data", () => {
  it.each([
    ["ascii", "x".repeat(900_000)],
    ["wide", "é😀".repeat(60_000)],
  ])("beyond 200 KB lies in a blob and comes back whole: %s", async (_name, text) => {
    await emit({ topic: "custom.big", data: { text } });
    await emit({ topic: "custom.small", data: { text: "x" } });
    expect(await test.deps.blobs.list("events/")).toHaveLength(1);
    const { records } = await readLog(test.deps);
    expect(records.map(({ topic }) => topic)).toEqual(["custom.small", "custom.big"]);
    expect(JSON.parse(records[1]?.data ?? "")).toEqual({ text });
  });
});

describe("chains of events", () => {
  const draft = { topic: "custom.loop", source: "executor", data: {} };

  it("are cut at the limit, with an error in the record and in the log", async () => {
    await storeWorkflow(test.deps, onTopic("loop", "custom.loop"));
    const [kept] = await emitEvents(test.deps, [{ ...draft, hop: EVENT_HOPS_MAX }]);
    expect(kept).toMatchObject({ error: "", matches: [{ workflow: "loop" }] });
    const [cut] = await emitEvents(test.deps, [{ ...draft, hop: EVENT_HOPS_MAX + 1 }]);
    expect(cut?.matches).toEqual([]);
    expect(cut?.error).toContain("event loop: more than");
    expect(test.logs.filter(({ level }) => level === "error")).toMatchObject([
      { message: "stopped an event loop" },
    ]);
    expect((await readLog(test.deps)).records[0]).toMatchObject({ processed: true, error: cut?.error });
  });

  it("are not cut if the last event has no listeners", async () => {
    const [last] = await emitEvents(test.deps, [{ ...draft, hop: EVENT_HOPS_MAX + 1 }]);
    expect(last?.error).toBe("");
    expect(test.logs.filter(({ level }) => level === "error")).toEqual([]);
  });
});

it("redacts secrets in records", async () => {
  const { writeFile } = await import("node:fs/promises");
  await writeFile(`${test.folder}/secrets.env`, "KEY=correct-horse-battery\n", { mode: 0o600 });
  expect(await test.deps.secrets.get("KEY")).toBe("correct-horse-battery");
  await emit({ topic: "custom.leak", data: { header: "Bearer correct-horse-battery" } });
  expect((await readLog(test.deps)).records[0]?.data).toBe('{"header":"Bearer ***"}');
});
