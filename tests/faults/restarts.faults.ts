import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";

/** More than the attempts that a step has. */
const KILLS = 12;
/** How long a server lives from its ready line to its end, milliseconds. */
const LIFE_MS = 2_000;
const RUNS = 100;

const opened: TestServer[] = [];
afterEach(async () => {
  for (const weft of opened.splice(0).reverse()) await weft[Symbol.asyncDispose]();
});
/** The first one's data folder is removed last. */
async function start(): Promise<TestServer> {
  const dataDir = opened[0]?.dataDir;
  const weft = await startTestServer(dataDir === undefined ? {} : { dataDir });
  opened.push(weft);
  return weft;
}

test("a step that was under way in twelve servers when they were killed runs on in the next", async () => {
  let weft = await start();
  const starts = join(weft.dataDir, "workspaces/long/starts");
  await weft.storeWorkflow(
    "name: long\nsteps: [{name: s, type: bash, command: 'echo {{attempt}} >> starts; [ -e go ] || sleep 600'}]",
  );
  const runId = await weft.startRun({ module: "long" });
  const seen = async () => (await readFile(starts, "utf8").catch(() => "")).trim().split("\n");
  for (let kills = 0; kills < KILLS; kills += 1) {
    await waitUntil("the step", async () => (await seen()).length > kills && (await seen())[0] !== "");
    await weft.kill();
    weft = await start();
  }
  await waitUntil("the last start", async () => (await seen()).length > KILLS);
  await writeFile(join(weft.dataDir, "workspaces/long/go"), "");
  await weft.kill();
  weft = await start();
  expect(await weft.waitForRun(runId)).toMatchObject({ status: "completed" });
  expect(await seen()).toEqual(Array.from({ length: KILLS + 2 }, (_, n) => String(n + 1)));
});

test("work goes on under a server that is killed every two seconds, and nothing fails of it", async () => {
  let weft = await start();
  await weft.storeWorkflow(`name: short
steps:
  - {name: a, type: bash, command: "sleep 0.3"}
  - {name: b, type: bash, command: "echo b"}
  - {name: c, type: bash, command: "sleep 0.3"}
`);
  await Promise.all(Array.from({ length: RUNS }, () => weft.startRun({ module: "short" })));
  const runs = async (status: string): Promise<number> =>
    (await weft.get<Page<RunRecord>>(`/runs?limit=1&status=${status}`)).pagination.total;
  for (let kills = 0; kills < KILLS; kills += 1) {
    await new Promise((resolve) => setTimeout(resolve, LIFE_MS));
    await weft.kill();
    weft = await start();
  }
  expect(await runs("failed")).toBe(0);
  expect(await runs("completed")).toBeGreaterThan(RUNS / 2);
  await waitUntil("the end of all runs", async () => (await runs("completed")) === RUNS, 60_000);
  expect((await weft.get<Page<unknown>>("/dead-letters")).pagination.total).toBe(0);
});

/** A result is recorded after two seconds at most; a busy machine takes some more to write it. */
const RECORDED_MS = 5_000;

test("a foreach that is killed repeats no item whose result has been recorded", async () => {
  let weft = await start();
  const ran = join(weft.dataDir, "workspaces/each/ran");
  const items = Array.from({ length: 120 }, (_, n) => `i${n}`);
  await weft.storeWorkflow(`name: each
steps:
  - name: all
    type: foreach
    input: [${items.join(", ")}]
    variable: item
    parallel: 2
    step: {name: one, type: bash, command: "echo [[item]] >> ran; sleep 0.2; echo out-[[item]]"}
`);
  const runId = await weft.startRun({ module: "each" });
  const seen = async () => (await readFile(ran, "utf8").catch(() => "")).split("\n").filter(Boolean);
  const lives: { readonly recorded: readonly string[]; readonly lines: number }[] = [];
  for (let kills = 1; kills <= 2; kills += 1) {
    const before = (await seen()).length;
    // Those that were begun before have ended once a later one has begun with as many after it.
    await waitUntil("some items", async () => (await seen()).length >= before + 6);
    const recorded = (await seen()).slice(before, -4);
    await new Promise((resolve) => setTimeout(resolve, RECORDED_MS));
    await weft.kill();
    lives.push({ recorded, lines: (await seen()).length });
    weft = await start();
  }
  expect(await weft.waitForRun(runId)).toMatchObject({ status: "completed" });
  const all = await seen();
  expect(new Set(all)).toEqual(new Set(items));
  for (const { recorded, lines } of lives)
    expect(all.slice(lines).filter((item) => recorded.includes(item))).toEqual([]);
  expect((await weft.steps(runId))["all"]?.output.split("\n")).toEqual(items.map((item) => `out-${item}`));
});
