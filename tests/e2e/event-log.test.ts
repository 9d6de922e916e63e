import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EventRecord } from "../../lib/events/log/list.ts";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

let weft: TestServer;
/** The whole log, newest first, from one request without filters. */
let all: readonly EventRecord[];

const TOPICS = ["custom.a", "custom.b", "assets.new"];
const SOURCES = ["api", "scanner"];
const WORKSPACES = ["", "acme", "Acme"];

beforeAll(async () => {
  weft = await startTestServer();
  await weft.storeWorkflow(
    "name: on-b\ntriggers: [{type: event, topic: custom.b}]\nsteps: [{name: s, type: bash, command: 'exit 1'}]",
  );
  const bodies = TOPICS.flatMap((topic) =>
    SOURCES.flatMap((source) =>
      WORKSPACES.map((workspace, index) => ({
        topic,
        source,
        workspace,
        name: `n${index}`,
        run_id: `r${index}`,
        workflow_name: index === 0 ? "" : "w",
        data: { index },
      })),
    ),
  );
  for (const body of bodies) await weft.emit(body);
  await waitUntil("all runs to be over and all events to be processed", async () => {
    const { data } = await weft.get<Page<{ status: string }>>("/runs?limit=100");
    const open = await weft.events({ processed: "false" });
    return data.length === 6 && data.every((run) => run.status === "failed") && open.length === 0;
  });
  all = await weft.events();
});
afterAll(() => weft[Symbol.asyncDispose]());

const list = (query: Record<string, string>) =>
  weft.get<Page<EventRecord>>(`/event-logs?${new URLSearchParams(query)}`);

describe("seed 4: GET /event-logs", () => {
  test("returns 20 records, newest first, with unique numbers and the total", async () => {
    const page = await list({});
    expect(page.pagination).toEqual({ total: all.length, offset: 0, limit: 20 });
    expect(page.data).toEqual(all.slice(0, 20));
    expect(all.map((event) => event.id)).toEqual(all.map((_, index) => all.length - index));
    const times = all.map((event) => event.created_at);
    expect([...times].sort().reverse()).toEqual(times);
  });

  test("contains the 18 emitted events, and `started`, failed step and failed run of the six runs", () => {
    const counts: Record<string, number> = {};
    for (const { topic } of all) counts[topic] = (counts[topic] ?? 0) + 1;
    expect(counts).toEqual({
      "custom.a": 6,
      "custom.b": 6,
      "assets.new": 6,
      "run.started": 6,
      "step.failed": 6,
      "run.failed": 6,
    });
  });

  test.each([0, 1, 19, 35, 36, 100])("returns pages of 7 from offset %d", async (offset) => {
    const page = await list({ offset: String(offset), limit: "7" });
    expect(page).toEqual({
      data: all.slice(offset, offset + 7),
      pagination: { total: all.length, offset, limit: 7 },
    });
  });

  const filters = ["topic", "name", "source", "workspace", "run_id", "workflow_name"] as const;
  test("combines every pair of filters, and the total counts the matches", async () => {
    const sample = all.find(
      (event) => event.topic === "custom.a" && event.workspace === "acme",
    ) as EventRecord;
    const failed = all.find((event) => event.topic === "run.failed") as EventRecord;
    for (const record of [sample, failed]) {
      for (const one of filters) {
        for (const other of filters) {
          const query = { [one]: record[one], [other]: record[other] };
          const fits = all.filter((event) => event[one] === record[one] && event[other] === record[other]);
          const page = await list({ ...query, limit: "10000" });
          expect([query, page.data.map(({ id }) => id)]).toEqual([query, fits.map(({ id }) => id)]);
          expect(page.pagination.total).toBe(fits.length);
        }
      }
    }
  });

  test("combines all seven filters", async () => {
    const wanted = all.find(
      (event) => event.topic === "custom.b" && event.source === "scanner" && event.workspace === "Acme",
    ) as EventRecord;
    const query = Object.fromEntries(filters.map((name) => [name, wanted[name]]));
    expect((await list({ ...query, processed: "true" })).data).toEqual([wanted]);
    expect((await list({ ...query, processed: "false" })).data).toEqual([]);
  });

  test("filters match exact values, not substrings, other cases or patterns", async () => {
    for (const topic of ["custom", "Custom.a", "custom.*", "custom.%", "custom.a "]) {
      expect([topic, (await list({ topic })).pagination.total]).toEqual([topic, 0]);
    }
  });

  test("run_uuid is an alias of run_id", async () => {
    const { data } = await list({ run_uuid: "r1", limit: "100" });
    expect(data.map(({ id }) => id)).toEqual(all.filter(({ run_id }) => run_id === "r1").map(({ id }) => id));
  });

  test("ignores an empty filter", async () => {
    const empty = Object.fromEntries([...filters, "processed", "run_uuid"].map((name) => [name, ""]));
    expect((await list(empty)).pagination.total).toBe(all.length);
  });

  test.each(["yes", "1", "TRUE", "0", "null", " true"])(
    "processed=%s returns 400 with the parameter's name",
    async (processed) => {
      const answer = await weft.call("GET", `/event-logs?${new URLSearchParams({ processed })}`);
      expect([answer.status, answer.json]).toEqual([
        400,
        { error: true, message: expect.stringContaining("processed") },
      ]);
    },
  );
});

describe("seed 6: the service's own events", () => {
  test("contain the run's id, workflow, workspace, source and data type", async () => {
    const { run_id } = all.find((event) => event.topic === "run.failed") as EventRecord;
    const run = (await weft.get<{ data: { workspace: string } }>(`/runs/${run_id}`)).data;
    const own = all.filter((event) => event.run_id === run_id).reverse();
    expect(own.map(({ topic, name, source, data_type }) => [topic, name, source, data_type])).toEqual([
      ["run.started", "on-b-started", "executor", "scan"],
      ["step.failed", "s-failed", "executor", "step"],
      ["run.failed", "on-b-failed", "executor", "scan"],
    ]);
    for (const event of own)
      expect(event).toMatchObject({ workflow_name: "on-b", workspace: run.workspace, processed: true });
    expect(own.map(({ data }) => JSON.parse(data))).toEqual([
      expect.objectContaining({ scan_id: run_id, trigger: "event" }),
      {
        step_name: "s",
        step_type: "bash",
        duration_ms: expect.any(Number),
        error: expect.stringContaining("exit code 1"),
      },
      {
        scan_id: run_id,
        target: "",
        duration_ms: expect.any(Number),
        error: expect.stringContaining("exit code 1"),
      },
    ]);
  });
});
