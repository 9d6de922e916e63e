import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

const running: TestServer[] = [];
async function start(options?: Parameters<typeof startTestServer>[0]): Promise<TestServer> {
  const weft = await startTestServer(options);
  running.push(weft);
  return weft;
}
afterEach(async () => {
  for (const weft of running.splice(0).reverse()) await weft[Symbol.asyncDispose]();
});

test("a second server on the same data folder does not start, and the first one is unaffected", async () => {
  const first = await start();
  await first.emit({ topic: "custom.before" });
  await expect(startTestServer({ dataDir: first.dataDir })).rejects.toThrow(/is in use by another Weft/);
  await first.emit({ topic: "custom.after" });
  expect((await first.events()).map(({ topic }) => topic)).toEqual(["custom.after", "custom.before"]);
});

test("after kill -9 a new server can use the data folder at once", async () => {
  const first = await start();
  await first.kill();
  const second = await start({ dataDir: first.dataDir });
  expect((await second.call("GET", "//health/ready")).status).toBe(200);
});

test("SIGTERM waits for running steps and exits with 0; the run continues after a restart", async () => {
  const first = await start();
  await first.storeWorkflow(`name: two
steps:
  - {name: one, type: bash, command: "touch '{{Output}}/begun'; sleep 1; echo one"}
  - {name: two, type: bash, command: "echo two"}
`);
  const runId = await first.startRun({ module: "two" });
  const begun = join(first.dataDir, "workspaces/two/begun");
  await waitUntil("the command of the first step", () => existsSync(begun));
  expect(await first.stop()).toBe(0);
  const second = await start({ dataDir: first.dataDir });
  expect((await second.waitForRun(runId)).status).toBe("completed");
  expect(await second.steps(runId)).toMatchObject({
    one: { status: "completed", attempt: 1, output: "one" },
    two: { status: "completed", output: "two" },
  });
});

test("a bash step that kills its parent process fails; the server and other runs continue", async () => {
  const weft = await start();
  await weft.storeWorkflow(
    "name: attack\nsteps: [{name: s, type: bash, command: 'kill -9 $PPID; sleep 60'}]",
  );
  await weft.storeWorkflow(
    "name: other\nsteps: [{name: s, type: bash, command: 'touch begun; sleep 3; echo done'}]",
  );
  const other = await weft.startRun({ module: "other" });
  await waitUntil("the other step", () => existsSync(join(weft.dataDir, "workspaces/other/begun")));
  expect(await weft.run({ module: "attack" })).toMatchObject({
    status: "failed",
    error_message: expect.stringContaining("the command ended the process that executes commands"),
  });
  expect((await weft.waitForRun(other)).status).toBe("completed");
  expect((await weft.steps(other))["s"]).toMatchObject({ output: "done", attempt: 2 });
  expect(weft.child.exitCode ?? weft.child.signalCode).toBe(null);
});

test("every line of the log is a JSON object with time, level and message", async () => {
  const weft = await start();
  await weft.storeWorkflow(`name: says
steps:
  - {name: a, type: bash, log: "line\\nbreak \\"{{Target}}\\" \\u2028", command: "true"}
  - {name: b, type: function, function: 'log_error("x\\ny {{Target}}"); log_warn("w"); 1'}
  - {name: c, type: bash, command: "echo 'no\\nJSON' >&2; exit 1"}
`);
  await weft.run({ module: "says", target: 'q"\n{"level":"forged"}\n\u0000\ud800' });
  expect(await weft.stop()).toBe(0);
  const lines = weft.log().trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(4);
  for (const line of lines) {
    const entry = JSON.parse(line) as Record<string, unknown>;
    expect(entry).toMatchObject({ time: expect.stringMatching(/Z$/), message: expect.any(String) });
    expect(["debug", "info", "warn", "error"]).toContain(entry["level"]);
  }
});

test("keeps acknowledged workflows, events, assets and runs, in order, after kill -9", async () => {
  const first = await start();
  await first.storeWorkflow(
    "name: kept\ntriggers: [{type: cron, schedule: '0 5 * * *'}]\nsteps: [{name: s, type: bash, command: 'echo kept'}]",
  );
  const run = await first.run({ module: "kept" });
  for (let n = 0; n < 30; n += 1)
    await first.emit({ topic: "assets.new", workspace: "w", data: { value: `a${n}` } });
  const paths = [
    "/workflows",
    "/workflows/kept",
    "/assets?limit=100",
    `/runs/${run.run_id}`,
    `/runs/${run.run_id}/steps`,
    `/runs/${run.run_id}/history`,
    "/event-receiver/workflows",
  ];
  await waitUntil(
    "all events to be processed",
    async () => (await first.events({ processed: "false" })).length === 0,
  );
  const before = await Promise.all(paths.map((path) => first.get(path)));
  const log = await first.events();
  await first.kill();
  const second = await start({ dataDir: first.dataDir });
  const after = await Promise.all(paths.map((path) => second.get(path)));
  expect(after).toEqual(before);
  expect(await second.events()).toEqual(log);
});
