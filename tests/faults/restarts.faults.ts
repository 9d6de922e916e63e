import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";

/** More than the maximum attempts of a step. */
const KILLS = 12;
const KILLS_MAX = 36;
/** Time between a server's ready line and its kill, milliseconds. */
const LIFE_MS = 2_000;
const RUNS = 100;

const opened: TestServer[] = [];
afterEach(async () => {
  for (const weft of opened.splice(0).reverse()) await weft[Symbol.asyncDispose]();
});
/** All servers share the first one's data folder, so that one is disposed last. */
async function start(): Promise<TestServer> {
  const dataDir = opened[0]?.dataDir;
  const weft = await startTestServer(dataDir === undefined ? {} : { dataDir });
  opened.push(weft);
  return weft;
}

test("a step that twelve killed servers were running completes in the next one", async () => {
  let weft = await start();
  const starts = join(weft.dataDir, "workspaces/long/starts");
  await weft.storeWorkflow(
    "name: long\nsteps: [{name: s, type: bash, command: 'echo {{attempt}} >> starts; [ -e go ] || sleep 600'}]",
  );
  const runId = await weft.startRun({ module: "long" });
  const readLines = async () => (await readFile(starts, "utf8").catch(() => "")).trim().split("\n");
  for (let kills = 0; kills < KILLS; kills += 1) {
    await waitUntil(
      "the step",
      async () => (await readLines()).length > kills && (await readLines())[0] !== "",
    );
    await weft.kill();
    weft = await start();
  }
  await waitUntil("the last start", async () => (await readLines()).length > KILLS);
  await writeFile(join(weft.dataDir, "workspaces/long/go"), "");
  await weft.kill();
  weft = await start();
  expect(await weft.waitForRun(runId)).toMatchObject({ status: "completed" });
  expect(await readLines()).toEqual(Array.from({ length: KILLS + 2 }, (_, n) => String(n + 1)));
});

test("runs complete although the server is killed every two seconds, and none fails", async () => {
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
  // A busy machine completes fewer runs in a life.
  const isDone = async (): Promise<boolean> => (await runs("completed")) > RUNS / 2;
  for (let kills = 0; kills < KILLS || (kills < KILLS_MAX && !(await isDone())); kills += 1) {
    await new Promise((resolve) => setTimeout(resolve, LIFE_MS));
    await weft.kill();
    weft = await start();
  }
  expect(await runs("failed")).toBe(0);
  expect(await runs("completed")).toBeGreaterThan(RUNS / 2);
  await waitUntil("the end of all runs", async () => (await runs("completed")) === RUNS, 60_000);
  expect((await weft.get<Page<unknown>>("/dead-letters")).pagination.total).toBe(0);
}, 300_000);

/** Results are recorded within two seconds; the margin is for a busy machine. */
const RECORD_DELAY_MS = 5_000;

test("a foreach does not repeat recorded items after kill -9", async () => {
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
  const readLines = async () => (await readFile(ran, "utf8").catch(() => "")).split("\n").filter(Boolean);
  const lives: { readonly recorded: readonly string[]; readonly lines: number }[] = [];
  for (let kills = 1; kills <= 2; kills += 1) {
    const before = (await readLines()).length;
    // Two items run at a time, so an item has ended once four later ones have begun.
    await waitUntil("some items", async () => (await readLines()).length >= before + 6);
    const recorded = (await readLines()).slice(before, -4);
    await new Promise((resolve) => setTimeout(resolve, RECORD_DELAY_MS));
    await weft.kill();
    lives.push({ recorded, lines: (await readLines()).length });
    weft = await start();
  }
  expect(await weft.waitForRun(runId)).toMatchObject({ status: "completed" });
  const all = await readLines();
  expect(new Set(all)).toEqual(new Set(items));
  for (const { recorded, lines } of lives)
    expect(all.slice(lines).filter((item) => recorded.includes(item))).toEqual([]);
  expect((await weft.steps(runId))["all"]?.output.split("\n")).toEqual(items.map((item) => `out-${item}`));
});
