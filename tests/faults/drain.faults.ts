import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

const running: TestServer[] = [];
afterEach(async () => {
  for (const weft of running.splice(0).reverse()) await weft[Symbol.asyncDispose]();
});

test("SIGTERM ends a step that exceeds the drain time and exits with 0; the restart begins attempt 2", async () => {
  const first = await startTestServer();
  running.push(first);
  await first.storeWorkflow(
    "name: long\nsteps: [{name: s, type: bash, command: 'echo $$ > pid; [ $WEFT_ATTEMPT -gt 1 ] || sleep 600; echo attempt $WEFT_ATTEMPT'}]",
  );
  const runId = await first.startRun({ module: "long" });
  // "running" is recorded when the step is requested: the command itself may not have started yet.
  await waitUntil("the command", () => existsSync(join(first.dataDir, "workspaces/long/pid")));
  expect(await first.stop()).toBe(0);
  const second = await startTestServer({ dataDir: first.dataDir });
  running.push(second);
  expect((await second.waitForRun(runId)).status).toBe("completed");
  expect((await second.steps(runId))["s"]).toMatchObject({
    status: "completed",
    attempt: 2,
    output: "attempt 2",
  });
});
