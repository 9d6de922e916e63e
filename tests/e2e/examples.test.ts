import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EventRecord } from "../../lib/events/log/list.ts";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import type { AssetRecord } from "../../lib/workflows/assets/list.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import { KEYS, makeRepository } from "./audited-repository.ts";

const EXAMPLES = new URL("../../examples/", import.meta.url);

let folder: string;
let weft: TestServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-examples-"));
  const token = "0123456789abcdef-examples";
  weft = await startTestServer({
    env: { WEFT_ACCESS_TOKEN: token },
    files: { "secrets.env": `WEFT_TOKEN=${token}\n` },
  });
  for (const name of await readdir(EXAMPLES)) {
    if (!name.endsWith(".yaml")) continue;
    const saved = await weft.storeWorkflow(await readFile(new URL(name, EXAMPLES), "utf8"));
    expect(saved).toMatchObject({ name: name.replace(".yaml", ""), revision: 1, warnings: [] });
  }
});
afterAll(async () => {
  await weft?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const total = async (path: string) => (await weft.get<Page<unknown>>(path)).pagination.total;

/** Waits until every event is processed, no run is pending or running, and no event arrived since the last check. */
async function waitUntilIdle(): Promise<void> {
  let before = -1;
  const idle = async () => {
    const events = await total("/event-logs?limit=1");
    const unchanged = events === before;
    before = events;
    for (const path of ["/event-logs?processed=false", "/runs?status=pending", "/runs?status=running"]) {
      if ((await total(path)) > 0) return false;
    }
    return unchanged;
  };
  await waitUntil("the service to be idle", idle, 60_000);
}

const dataOf = (event: EventRecord) => JSON.parse(event.data) as { value: string };
const sorted = (values: Iterable<string>) => [...values].sort();
const assets = async (workspace: string) =>
  (await weft.get<Page<AssetRecord>>(`/assets?limit=10000&workspace=${encodeURIComponent(workspace)}`)).data;

async function filed(workspace: string): Promise<{ value: string; run_id: string; asset_type: string }[]> {
  const text = await readFile(join(weft.dataDir, "workspaces", workspace, "findings.jsonl"), "utf8");
  expect(text.endsWith("\n")).toBe(true);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

function countByTopic(events: readonly EventRecord[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { topic } of events) counts[topic] = (counts[topic] ?? 0) + 1;
  return counts;
}

/** Expected step events of an audit run and of the runs that it triggers; skipped steps emit none. */
const AUDIT_STEPS = 9;
const FILE_STEPS = 4;
const FILE_STEPS_KNOWN = 3;

describe("audit-repository and file-findings", () => {
  let expected: ReadonlySet<string>;
  let audit: RunRecord;
  const run = async () => {
    const params = { weft_url: `${weft.url}/automation` };
    const ended = await weft.run({ module: "audit-repository", target: join(folder, "audited"), params });
    expect([ended.status, ended.error_message]).toEqual(["completed", ""]);
    await waitUntilIdle();
    return ended;
  };

  beforeAll(async () => {
    expected = await makeRepository(join(folder, "audited"));
    audit = await run();
  });

  test("report each finding once as an asset, in the log and in the file", async () => {
    const found = await assets(audit.workspace);
    expect(sorted(found.map(({ asset_value }) => asset_value))).toEqual(sorted(expected));
    expect(sorted((await filed(audit.workspace)).map(({ value }) => value))).toEqual(sorted(expected));
    const events = await weft.events();
    for (const topic of ["assets.new", "custom.finding.filed"]) {
      const values = events.filter((event) => event.topic === topic).map((event) => dataOf(event).value);
      expect(sorted(values)).toEqual(sorted(expected));
    }
    const newline = found.find(({ asset_value }) => asset_value.includes("line.txt"));
    expect(newline).toMatchObject({
      path: "new\nline.txt",
      line: 1,
      asset_type: "todo",
      source: "audit-repository",
    });
  });

  test("log every run, step and event, without a failure", async () => {
    const count = expected.size;
    expect(countByTopic(await weft.events())).toEqual({
      "run.started": 1 + count,
      "run.completed": 1 + count,
      "step.completed": AUDIT_STEPS + FILE_STEPS * count,
      "assets.new": count,
      "custom.finding.filed": count,
    });
    const events = await weft.events({ run_id: audit.run_id });
    expect(new Set(events.map(({ workflow_name, workspace }) => `${workflow_name} ${workspace}`))).toEqual(
      new Set([`audit-repository ${audit.workspace}`]),
    );
    expect(countByTopic(events)).toEqual({
      "run.started": 1,
      "run.completed": 1,
      "step.completed": AUDIT_STEPS,
      "assets.new": count,
    });
    const steps = await weft.steps(audit.run_id);
    expect(
      Object.values(steps).map(({ step_name, status, attempt }) => `${step_name} ${status} ${attempt}`),
    ).toEqual(
      ["list-files", "names", "scan", "collect", "describe", "report", "known-assets", "summary", "tidy"].map(
        (name) => `${name} completed 1`,
      ),
    );
    expect(steps.summary?.output).toBe(
      `26 files, ${count} findings, ${count} assets known in this workspace`,
    );
    const runs = await weft.get<Page<RunRecord>>("/runs?workflow=file-findings&limit=1000");
    expect(
      new Set(runs.data.map(({ trigger_type, trigger_name }) => `${trigger_type} ${trigger_name}`)),
    ).toEqual(new Set(["event on-new-asset"]));
    const filedBy = (await filed(audit.workspace)).map(({ run_id }) => run_id);
    expect(sorted(filedBy)).toEqual(sorted(runs.data.map(({ run_id }) => run_id)));
  });

  test("expose neither found secrets nor the access token, and execute no file name", async () => {
    const output = JSON.stringify([
      await weft.events(),
      await weft.steps(audit.run_id),
      await assets(audit.workspace),
      await filed(audit.workspace),
      weft.log(),
    ]);
    for (const secret of [...KEYS, weft.token]) expect(output).not.toContain(secret);
    const files = await readdir(weft.dataDir, { recursive: true });
    expect(files.filter((name) => name.includes("injected"))).toEqual([]);
    expect(await readdir(join(folder, "audited"))).not.toContain("injected");
    expect(sorted(await readdir(join(weft.dataDir, "workspaces", audit.workspace)))).toEqual([
      "filed",
      "findings.jsonl",
    ]);
  });

  test("file only new findings when the same repository is audited again", async () => {
    const count = expected.size;
    const before = await filed(audit.workspace);
    const again = await run();
    expect(again.workspace).toBe(audit.workspace);
    expect(await filed(audit.workspace)).toEqual(before);
    expect(countByTopic(await weft.events())).toEqual({
      "run.started": 2 + 2 * count,
      "run.completed": 2 + 2 * count,
      "step.completed": 2 * AUDIT_STEPS + (FILE_STEPS + FILE_STEPS_KNOWN) * count,
      "assets.new": 2 * count,
      "custom.finding.filed": count,
    });
    await writeFile(join(folder, "audited", "src/clean.ts"), `now with a ${["TO", "DO"].join("")}\n`);
    await run();
    const after = await filed(audit.workspace);
    expect(after.slice(0, count)).toEqual(before);
    expect(after.slice(count).map(({ value }) => value)).toEqual(["src/clean.ts:1 todo"]);
  });

  test("fail with a reason if the target is not a repository, and report no finding", async () => {
    const failed = await weft.run({ module: "audit-repository", target: weft.dataDir });
    expect(failed.status).toBe("failed");
    expect(failed.error_message).toContain("not a git repository");
    expect(await weft.events({ run_id: failed.run_id, topic: "assets.new" })).toEqual([]);
  });
});

test("an asset that many concurrent events report is filed once, in its workspace", async () => {
  const emits = Array.from({ length: 30 }, (_, index) =>
    weft.emit({
      topic: index % 2 === 0 ? "assets.new" : "asset.discovered",
      data: { host: "shared.example", seen: index },
    }),
  );
  for (const answer of await Promise.all(emits))
    expect(answer.triggered_workflows).toEqual(["file-findings"]);
  await waitUntilIdle();
  expect((await assets("default")).map(({ asset_value }) => asset_value)).toEqual(["shared.example"]);
  expect((await filed("default")).map(({ value }) => value)).toEqual(["shared.example"]);
  expect((await weft.events({ topic: "custom.finding.filed", workspace: "default" })).length).toBe(1);
  await weft.emit({ topic: "assets.new", data: { note: "names no asset" } });
  await waitUntilIdle();
  expect((await filed("default")).length).toBe(1);
  expect((await weft.get<Page<RunRecord>>("/runs?status=failed&workflow=file-findings")).data).toEqual([]);
});

test("daily-digest counts the findings of every workspace and overwrites the day's digest", async () => {
  for (const workspace of ["one", "two"]) {
    const data = { value: `finding of ${workspace}`, asset_type: "note" };
    await weft.emit({ topic: "assets.new", workspace, data });
  }
  await waitUntilIdle();
  for (const attempt of [1, 2]) {
    const digest = await weft.run({ module: "daily-digest" });
    expect([digest.status, digest.error_message, digest.workspace]).toEqual([
      "completed",
      "",
      "daily-digest",
    ]);
    const today = digest.created_at.slice(0, 10);
    const path = join(weft.dataDir, "workspaces", "daily-digest", `digest-${today}.md`);
    const text = await readFile(path, "utf8");
    expect(text).toMatch(new RegExp(`^# Findings on ${today}\n`));
    for (const workspace of ["one", "two"])
      expect(text).toContain(`\n## ${workspace}\n\n- 1 filed\n- note: 1\n`);
    const written = await weft.events({ topic: "custom.digest.written" });
    expect(written.length).toBe(attempt);
    expect(JSON.parse(written[0]!.data)).toEqual({ path, lines: text.trimEnd().split("\n").length });
  }
});

test("the guide's workflow greets visitors with any name", async () => {
  const guide = await readFile(new URL("../../docs/workflows.md", import.meta.url), "utf8");
  const [, yaml = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(guide) ?? [];
  await weft.storeWorkflow(yaml);
  const visitor = 'Ann O\'Neil; $(exit 1) "x"\nsecond line';
  const emitted = await weft.emit({ topic: "custom.visitor", data: { visitor }, workspace: "guide" });
  expect(emitted.triggered_workflows).toEqual(["greet"]);
  await waitUntilIdle();
  const greeted = await weft.events({ topic: "custom.greeted", workspace: "guide" });
  expect(greeted.map(({ data }) => JSON.parse(data))).toEqual([
    { text: `Hello, ${visitor}\nHallo, ${visitor}` },
  ]);
});
