import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emitEvents } from "#lib/events/publish.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import { storeWorkflow } from "#lib/testing/test-workflows.ts";
import { storeDeadLetter } from "#lib/workflows/dead-letters/dead-letters.ts";
import { startRun } from "#lib/workflows/runs/start.ts";
import { handler as artifacts } from "./artifacts/list.ts";
import { handler as assets } from "./assets/list.ts";
import { handler as deadLetters } from "./dead-letters/list.ts";
import { handler as events } from "./event-logs/list.ts";
import { handler as functions } from "./functions/list.ts";
import { handler as runs } from "./runs/list.ts";
import { handler as schedules } from "./schedules/list.ts";
import { handler as vulnerabilities } from "./vulnerabilities/list.ts";
import { handler as webhooks } from "./webhooks/list.ts";
import { handler as workflows } from "./workflows/list.ts";
import { handler as workspaces } from "./workspaces/list.ts";

type Handler = Parameters<typeof call>[1];

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps({ command: async () => ({ exitCode: 0, stdout: "" }) });
});
afterEach(() => test.close());

/** The values of a field in the order that the list has them. */
async function valuesOf(
  list: Handler,
  field: string,
  query: Record<string, string> = {},
): Promise<unknown[]> {
  const { status, json } = await call(test.deps, list, { query });
  expect([status, json]).toEqual([200, expect.anything()]);
  const body = json as { data?: Record<string, unknown>[]; functions?: Record<string, unknown>[] };
  return (body.data ?? body.functions ?? []).map((record) => record[field]);
}

const workflow = (name: string, rest: string): Promise<unknown> =>
  storeWorkflow(test.deps, `name: ${name}\n${rest}steps:\n  - {name: s, type: bash, command: "true"}\n`);
const trigger = (name: string, rest: string): string => `  - {name: ${name}, ${rest}}\n`;

describe("lists in the order of arrival", () => {
  it("begin with the oldest record if asked, on every page", async () => {
    for (const n of [1, 2, 3]) {
      const workspace = `w${n}`;
      test.clock.advance(1_000);
      const folder = join(test.folder, "workspaces", workspace);
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, `f${n}.md`), "");
      await workflow(`m${n}`, `reports:\n  - {path: f${n}.md}\n`);
      await startRun(test.deps, { module: `m${n}`, target: `t${n}`, workspace });
      await storeDeadLetter(test.deps, { id: `letter-${n}`, queue: `q${n}`, body: "{}" });
      await emitEvents(test.deps, [
        { topic: "assets.new", source: "api", workspace, data: { value: `a${n}` } },
        {
          topic: "vulnerabilities.new",
          source: "api",
          workspace,
          data: { title: `v${n}`, severity: "low", asset: "a" },
        },
      ]);
      await test.drain(["http"]);
    }
    const lists: readonly (readonly [Handler, string, string])[] = [
      [runs, "target", "created_at"],
      [events, "id", "created_at"],
      [assets, "asset_value", "created_at"],
      [vulnerabilities, "vuln_title", "created_at"],
      [workspaces, "name", "created_at"],
      [artifacts, "name", "created_at"],
      [deadLetters, "id", "received_at"],
    ];
    for (const [list, field, by] of lists) {
      const newest = await valuesOf(list, field);
      expect(await valuesOf(list, field, { ordering: `-${by}` })).toEqual(newest);
      expect(await valuesOf(list, field, { ordering: "" })).toEqual(newest);
      const oldest = newest.toReversed();
      expect(await valuesOf(list, field, { ordering: by })).toEqual(oldest);
      expect(await valuesOf(list, field, { ordering: by, offset: "1", limit: "1" })).toEqual(
        oldest.slice(1, 2),
      );
      expect(await valuesOf(list, field, { ordering: by, offset: "2", limit: "5" })).toEqual(
        oldest.slice(2, 7),
      );
      expect(await valuesOf(list, field, { ordering: by, offset: "1000" })).toEqual([]);
    }
    expect(await valuesOf(runs, "target", { ordering: "created_at" })).toEqual(["t1", "t2", "t3"]);
    expect(await valuesOf(assets, "asset_value", { ordering: "created_at" })).toEqual(["a1", "a2", "a3"]);
    const paths = await valuesOf(artifacts, "artifact_path", { ordering: "created_at" });
    expect(paths).toEqual(["f1.md", "f2.md", "f3.md"]);
    expect(await valuesOf(deadLetters, "queue", { ordering: "received_at" })).toEqual(["q1", "q2", "q3"]);
  });
});

describe("lists that are in memory", () => {
  beforeEach(async () => {
    await workflow("b", `triggers:\n${trigger("z", 'type: cron, schedule: "0 0 * * *"')}`);
    test.clock.advance(1_000);
    await workflow(
      "a",
      `triggers:\n${trigger("y", "type: webhook")}${trigger("x", "type: event, topic: some.topic")}`,
    );
    test.clock.advance(1_000);
    await workflow("c", `triggers:\n${trigger("w", "type: webhook")}`);
  });

  it("sort workflows by name, times, steps and triggers", async () => {
    const names = (ordering?: string) =>
      valuesOf(workflows, "name", ordering === undefined ? {} : { ordering });
    expect(await names()).toEqual(["a", "b", "c"]);
    expect(await names("name")).toEqual(["a", "b", "c"]);
    expect(await names("-name")).toEqual(["c", "b", "a"]);
    expect(await names("created_at")).toEqual(["b", "a", "c"]);
    expect(await names("-updated_at")).toEqual(["c", "a", "b"]);
    expect(await names("-trigger_count")).toEqual(["a", "b", "c"]);
    expect(await names("trigger_count")).toEqual(["b", "c", "a"]);
    expect(await names("step_count")).toEqual(["a", "b", "c"]);
    expect(await valuesOf(workflows, "name", { ordering: "-name", offset: "1", limit: "1" })).toEqual(["b"]);
  });

  it("sort schedules and webhooks by what they belong to", async () => {
    const triggers = (ordering: string) => valuesOf(schedules, "name", { ordering });
    expect(await triggers("name")).toEqual(["w", "x", "y", "z"]);
    expect(await triggers("-name")).toEqual(["z", "y", "x", "w"]);
    expect(await valuesOf(schedules, "workflow_name", { ordering: "-workflow_name" })).toEqual([
      "c",
      "b",
      "a",
      "a",
    ]);
    expect(await valuesOf(schedules, "trigger_type", { ordering: "trigger_type" })).toEqual([
      "cron",
      "event",
      "webhook",
      "webhook",
    ]);
    expect((await triggers("created_at")).toReversed()).toEqual(await valuesOf(schedules, "name"));
    expect(await valuesOf(webhooks, "workflow_name", { ordering: "workflow_name" })).toEqual(["a", "c"]);
    expect(await valuesOf(webhooks, "workflow_name")).toEqual(["c", "a"]);
    expect(await valuesOf(webhooks, "workflow_name", { ordering: "created_at" })).toEqual(["a", "c"]);
  });

  it("sort functions by group and name", async () => {
    const groups = await valuesOf(functions, "name");
    const names = groups.toSorted();
    expect(await valuesOf(functions, "name", { ordering: "group" })).toEqual(groups);
    expect(await valuesOf(functions, "name", { ordering: "-group" })).toEqual(groups.toReversed());
    expect(await valuesOf(functions, "name", { ordering: "name" })).toEqual(names);
    expect(await valuesOf(functions, "name", { ordering: "-name" })).toEqual(names.toReversed());
  });
});

it("orders that are not offered are refused", async () => {
  const lists = [
    ...[artifacts, assets, deadLetters, events, functions, runs],
    ...[schedules, vulnerabilities, webhooks, workflows, workspaces],
  ];
  for (const list of lists) {
    for (const ordering of ["size", "-", "--name", "created_at,name"]) {
      const { status, json } = await call(test.deps, list, { query: { ordering } });
      expect([status, JSON.stringify(json)]).toEqual([
        400,
        expect.stringMatching(/ordering: must be one of /),
      ]);
    }
  }
});
