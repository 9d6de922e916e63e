import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Page, waitUntil } from "../../lib/testing/test-server.ts";
import { useSmallDisk } from "./small-disk.ts";

const SAVED =
  "name: works\ntriggers: [{type: event, topic: custom.run}]\nsteps: [{name: s, type: bash, command: 'echo fine'}]";

const disk = useSmallDisk();

const emit = (n: number, bytes = 100) =>
  disk.weft.call("POST", "/events/emit", {
    body: { topic: "custom.fill", data: { n, text: "x".repeat(bytes) } },
  });
const numbers = async () =>
  (await disk.weft.events({ topic: "custom.fill" })).map(({ data }) => (JSON.parse(data) as { n: number }).n);

/** Expects each acknowledged event in the log once, and a new event that starts a run that completes. */
async function expectIntact(acknowledged: readonly number[]): Promise<void> {
  expect((await numbers()).sort((a, b) => a - b)).toEqual(acknowledged);
  const before = (await disk.weft.get<Page<unknown>>("/runs?workflow=works")).pagination.total;
  expect((await disk.weft.emit({ topic: "custom.run" })).triggered_workflows).toEqual(["works"]);
  const run = await waitUntil("the run", async () => {
    const { data, pagination } = await disk.weft.get<Page<{ run_id: string }>>("/runs?workflow=works");
    return pagination.total > before && data[0];
  });
  expect((await disk.weft.waitForRun(run.run_id)).status).toBe("completed");
  expect((await disk.weft.steps(run.run_id))["s"]?.output).toBe("fine");
  await waitUntil(
    "all events to be processed",
    async () => (await disk.weft.events({ processed: "false" })).length === 0,
  );
}

test("on a full disk writes return 507 and reads work; it recovers with free space and after kill -9", async () => {
  await disk.start();
  await disk.weft.storeWorkflow(SAVED);
  await disk.fill();
  const acknowledged: number[] = [];
  let refused = 0;
  for (let n = 0; n < 400 && refused < 5; n += 1) {
    const answer = await emit(n, 20_000);
    if (answer.status === 200) acknowledged.push(n);
    else {
      refused += 1;
      expect([answer.status, answer.json]).toEqual([
        507,
        { error: true, message: expect.stringMatching(/storage is full/) },
      ]);
    }
  }
  expect(refused).toBe(5);
  expect(acknowledged.length).toBeGreaterThan(3);
  expect((await disk.weft.call("GET", "//health")).status).toBe(200);
  expect((await numbers()).sort((a, b) => a - b)).toEqual(acknowledged);
  const run = await disk.weft.call("POST", "/runs", {
    body: { module: "works", params: { text: "y".repeat(20_000) } },
  });
  expect([run.status, run.json]).toEqual([
    507,
    { error: true, message: expect.stringMatching(/storage is full/) },
  ]);

  await disk.free();
  await waitUntil("an emit to be taken again", async () => {
    const answer = await emit(1000);
    if (answer.status === 200) acknowledged.push(1000);
    return answer.status === 200;
  });
  await expectIntact(acknowledged);

  await disk.weft.kill();
  await disk.start();
  await expectIntact(acknowledged);
});

test("runs wait while the disk is full; none is lost or dead-lettered", async () => {
  await disk.start();
  await disk.weft.storeWorkflow(SAVED.replace("'echo fine'", "'sleep 1; echo fine'"));
  for (let n = 0; n < 12; n += 1) await disk.weft.emit({ topic: "custom.run" });
  await disk.fill("completely");
  const notReady = await waitUntil("readiness to fail", async () => {
    const answer = await disk.weft.call("GET", "//health/ready", { token: null });
    return answer.status !== 200 && answer;
  });
  expect([notReady.status, notReady.json]).toEqual([
    503,
    { error: true, message: expect.stringMatching(/storage is full/) },
  ]);
  // Ten deliveries of a message that fails at once take 51 s at most, but nearly all of them take less than 10 s.
  await sleep(10_000);
  expect((await disk.weft.call("GET", "//health")).status).toBe(200);

  await disk.free();
  await waitUntil("all runs to be completed", async () => {
    const { data } = await disk.weft.get<Page<{ status: string }>>("/runs?workflow=works&limit=50");
    return data.length === 12 && data.every(({ status }) => status === "completed");
  });
  expect((await disk.weft.call("GET", "//health/ready", { token: null })).status).toBe(200);
  expect((await disk.weft.get<Page<unknown>>("/dead-letters")).data).toEqual([]);
});

test("after kill -9 on a full disk, the server starts with free space and has lost no event", async () => {
  await disk.start();
  await disk.weft.storeWorkflow(SAVED);
  await disk.fill();
  const acknowledged: number[] = [];
  for (let n = 0; n < 400; n += 1) {
    if ((await emit(n, 20_000)).status !== 200) break;
    acknowledged.push(n);
  }
  await disk.weft.kill();
  await disk.free();
  await disk.start();
  await expectIntact(acknowledged);
});

test("does not start on a read-only data folder, and starts again once it is writable", async () => {
  await disk.start();
  await disk.weft.storeWorkflow(SAVED);
  const acknowledged: number[] = [];
  for (let n = 0; n < 20; n += 1) if ((await emit(n)).status === 200) acknowledged.push(n);
  expect(acknowledged).toHaveLength(20);
  await waitUntil(
    "all events to be processed",
    async () => (await disk.weft.events({ processed: "false" })).length === 0,
  );
  await disk.weft.kill();

  await disk.sh('mount -o remount,ro "$0"');
  await expect(disk.start()).rejects.toThrow(/did not start: .*(?:read-only|not writable|EROFS)/is);
  await disk.sh('mount -o remount,rw "$0"');
  await disk.start();
  await expectIntact(acknowledged);
});
