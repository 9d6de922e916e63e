import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { openWatches, type Watches } from "./open-watches.ts";

const HOPS = 8;
const ROUNDS_MAX = 30;
const WAIT_MS = 30_000;
/** Longer than the delay before a loop is stopped. */
const QUIET_MS = 3_000;
/** Longer than the lag of the file system's clock. */
const LAG_MS = 20;

let folder: string;
let test: TestDeps;
let watches: Watches;
/** The work of a run's step. */
let act: (command: string) => Promise<void>;
let isOpen: boolean;
let worker: Promise<void>;
/** The test clock stops at this point; before, it follows the machine's clock, which sets file times. */
let stopsAt: number;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "weft-loops-")));
  for (const box of ["one", "two"]) await mkdir(join(folder, "workspaces", box), { recursive: true });
  act = async () => undefined;
  stopsAt = Number.POSITIVE_INFINITY;
  let ahead = 0;
  test = await testDeps({
    folder,
    clock: {
      now: () => Math.min(Date.now(), stopsAt) + ahead,
      advance: (milliseconds) => {
        ahead += milliseconds;
      },
    },
    command: async ({ argv }) => {
      await act(argv.at(-1) ?? "");
      return {};
    },
  });
});
afterEach(async () => {
  isOpen = false;
  await worker;
  await watches.close();
  await test.close();
  await rm(folder, { recursive: true, force: true });
});

async function begin(): Promise<void> {
  watches = await openWatches(test.deps);
  isOpen = true;
  const work = async (): Promise<void> => {
    while (isOpen) {
      await test.drain();
      await delay(10);
    }
  };
  worker = work();
}

const watching = (name: string, box: string): string =>
  `name: ${name}\ntriggers: [{name: files, type: watch, path: "${box}", debounce: 20ms}]\nsteps: [{name: a, type: bash, command: ${name}}]\n`;
/** Creates a file with its content at once: one that is empty for a while, on a slow machine, fires twice. */
async function putFile(box: string, name: string): Promise<void> {
  const unfinished = join(folder, name);
  await writeFile(unfinished, "x");
  await rename(unfinished, join(folder, "workspaces", box, name));
}
const fires = async () => (await readLog(test.deps, { topic: "schedule.triggered" })).records;
const runCount = async () => (await readRuns(test.deps)).length;
/** Waits until these runs have ended, and until new files have later times than their steps. */
async function settle(count: number): Promise<void> {
  const ended = async () => (await readRuns(test.deps)).filter(({ completed_at }) => completed_at !== null);
  await expect.poll(async () => (await ended()).length, { timeout: WAIT_MS, interval: 50 }).toBe(count);
  const settledAt = Date.now();
  await expect.poll(() => Date.now() - settledAt, { interval: 5 }).toBeGreaterThan(LAG_MS);
}
const cuts = async () => (await fires()).filter(({ error }) => error.startsWith("event loop: more than"));

/** Waits until the last run of a loop has ended, then until the loop is stopped. */
async function waitForCut(): Promise<void> {
  await settle(HOPS + 1);
  test.clock.advance(QUIET_MS);
  await expect.poll(async () => (await cuts()).length, { timeout: WAIT_MS, interval: 50 }).toBe(1);
}

describe("files that runs write", () => {
  it("carry the hops and the root cause of their run: a loop with new files ends", {
    timeout: 2 * WAIT_MS,
  }, async () => {
    await storeWorkflow(test.deps, watching("w", "one"));
    let round = 0;
    act = async () => {
      round += 1;
      if (round < ROUNDS_MAX) await putFile("one", `round-${round}`);
    };
    await begin();
    await putFile("one", "first");
    await waitForCut();
    const runs = await readRuns(test.deps);
    expect(runs.map(({ hop }) => hop).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, HOPS]);
    expect(new Set(runs.map(({ root_cause }) => root_cause)).size).toBe(1);
  });

  it("do not loop forever between two workflows that write to each other's folders", {
    timeout: 2 * WAIT_MS,
  }, async () => {
    await storeWorkflow(test.deps, watching("ping", "one"));
    await storeWorkflow(test.deps, watching("pong", "two"));
    let round = 0;
    act = async (command) => {
      round += 1;
      if (round < ROUNDS_MAX) await putFile(command === "ping" ? "two" : "one", `round-${round}`);
    };
    await begin();
    await putFile("one", "first");
    await waitForCut();
    expect(await runCount()).toBe(HOPS + 1);
  });
});

describe("files that other programs write while runs are active", () => {
  it("fire, however many there are, while more of them appear", { timeout: 2 * WAIT_MS }, async () => {
    await storeWorkflow(test.deps, watching("w", "one"));
    let written = 0;
    act = async () => {
      written += 1;
      if (written > HOPS + 1) return;
      await putFile("one", `during-${written}`);
      // However slow the machine is, the last file is not given up before the next one appears.
      if (written === HOPS + 1) stopsAt = Date.now() + 1;
    };
    await begin();
    await putFile("one", "first");
    await settle(HOPS + 1);
    await putFile("one", "between");
    await settle(HOPS + 2);
    test.clock.advance(QUIET_MS);
    await expect.poll(runCount, { timeout: WAIT_MS, interval: 50 }).toBe(HOPS + 3);
    expect(await cuts()).toEqual([]);
  });
});
