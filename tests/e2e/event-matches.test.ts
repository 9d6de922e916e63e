import { beforeAll, expect, test } from "vitest";
import { waitUntil } from "../../lib/testing/test-server.ts";
import type { MatchRecord } from "../../lib/workflows/triggers/explain-matches.ts";
import { sharedServer } from "./shared-server.ts";

const server = sharedServer();
const TOPIC = "custom.explained";

const workflow = (name: string, trigger: string): string =>
  `name: explained-${name}\ntriggers:\n  - {name: heard, type: event, ${trigger}}\nsteps: [{name: a, type: bash, command: echo}]\n`;

const emit = async (data: object, topic = TOPIC): Promise<string> =>
  (await server.emit({ topic, data })).event_id;

/** Of the workflows of this test, by name. */
async function matchesOf(eventId: string): Promise<Record<string, MatchRecord>> {
  const { data } = await server.get<{ data: MatchRecord[] }>(`/events/${eventId}/matches?limit=100`);
  return Object.fromEntries(
    data
      .filter((match) => match.workflow.startsWith("explained-"))
      .map((match) => [match.workflow.slice("explained-".length), match]),
  );
}

beforeAll(async () => {
  for (const [name, trigger] of [
    ["plain", `topic: ${TOPIC}`],
    ["elsewhere", "topic: custom.explained.other"],
    ["disabled", `topic: ${TOPIC}, enabled: false`],
    [
      "strict",
      `topic: ${TOPIC}, filters: ["event.data.size > 0", "event.data.size > 10 && event.data.missing.x !== 1"]`,
    ],
    ["broken", `topic: ${TOPIC}, filters: ["event.data.nothing.at.all"]`],
    ["hostile", `topic: ${TOPIC}, filters: ["(() => { while (event.data.size) {} })()"]`],
    ["escaping", `topic: ${TOPIC}, filters: ["process.exit(1)"]`],
    ["once", `topic: ${TOPIC}, dedupe_key: "{{event.data.key}}", dedupe_window: 1h`],
  ] as const)
    await server.storeWorkflow(workflow(name, trigger));
});

test("an event shows what matched with its runs, what did not, and why", async () => {
  await emit({ size: 5, key: "k" });
  const id = await emit({ size: 5, key: "k" });
  const matches = await waitUntil("the run of the event", async () => {
    const found = await matchesOf(id);
    return found.plain?.run?.status === "completed" && found;
  });
  const [run] = (
    await server.get<{ data: { run_id: string; event_id: string }[] }>("/runs?workflow=explained-plain")
  ).data;
  expect(matches.plain).toMatchObject({ matched: true, reason: "", changed_since: false, exists: true });
  expect([matches.plain?.run?.run_id, `evt_${run?.event_id}`]).toEqual([run?.run_id, id]);
  const reasons = Object.entries(matches).map(([name, { reason, matched }]) => [name, matched, reason]);
  expect(reasons.sort()).toEqual([
    ["broken", false, "filter"],
    ["disabled", false, "disabled"],
    ["elsewhere", false, "topic"],
    ["escaping", false, "filter"],
    ["hostile", false, "filter"],
    ["once", false, "deduplication"],
    ["plain", true, ""],
    ["strict", false, "filter"],
  ]);
  expect(matches.strict?.filter).toEqual({
    expression: "event.data.size > 10 && event.data.missing.x !== 1",
    error: "",
    values: { "event.data.size": 5, "event.data.missing.x": null },
  });
  expect(matches.broken?.filter?.error).toContain("undefined");
  expect(matches.hostile?.filter?.error).toMatch(/stopped/);
  expect(matches.escaping?.filter?.error).not.toBe("");
  expect(matches.once?.detail).toBe("An earlier event within 1h had the same key: k");
  expect((await server.call("GET", "//health")).status).toBe(200);
});

test("a trigger that was changed, created or deleted since is marked", async () => {
  const id = await emit({ size: 20, key: "l" }, "custom.explained.changing");
  await server.storeWorkflow(workflow("later", "topic: custom.explained.changing"));
  expect((await matchesOf(id)).later).toMatchObject({
    matched: false,
    reason: "changed",
    changed_since: true,
  });
  const next = await emit({}, "custom.explained.changing");
  expect((await matchesOf(next)).later).toMatchObject({ matched: true, changed_since: false });
  await server.storeWorkflow(workflow("later", "topic: custom.explained.changed"));
  expect((await matchesOf(next)).later).toMatchObject({ matched: true, changed_since: true, exists: true });
  await server.call("DELETE", "/workflows/explained-later");
  expect((await matchesOf(next)).later).toMatchObject({ matched: true, changed_since: true, exists: false });
});

test("matches are paginated, and an unknown event returns 404", async () => {
  const id = await emit({ size: 1, key: "m" });
  const page = await server.get<{ data: MatchRecord[]; pagination: object }>(`/events/${id}/matches?limit=1`);
  expect(page.data).toMatchObject([{ workflow: "explained-once", matched: true }]);
  const all = await server.get<{ data: MatchRecord[]; pagination: { total: number } }>(
    `/events/${id.replace("evt_", "")}/matches?offset=1&limit=1000`,
  );
  expect(all.pagination).toMatchObject({ offset: 1, limit: 100 });
  expect(page.pagination).toEqual({ total: all.pagination.total, offset: 0, limit: 1 });
  for (const unknown of ["none", "evt_", `evt_${"x".repeat(500)}`])
    expect((await server.call("GET", `/events/${unknown}/matches`)).status).toBe(404);
});
