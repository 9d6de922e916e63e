import { afterEach, expect, test } from "vitest";
import { startWeft, until, type Weft } from "../e2e/weft.ts";

const running: Weft[] = [];
afterEach(async () => {
  for (const weft of running.splice(0).reverse()) await weft[Symbol.asyncDispose]();
});

test("SIGTERM amid a step that takes too long ends it and exits with 0; a second attempt follows the restart", async () => {
  const first = await startWeft();
  running.push(first);
  await first.save(
    "name: long\nsteps: [{name: s, type: bash, command: 'echo $$ > pid; [ $WEFT_ATTEMPT -gt 1 ] || sleep 600; echo attempt $WEFT_ATTEMPT'}]",
  );
  const runId = await first.start({ module: "long" });
  await until("the step", async () => (await first.steps(runId))["s"]?.status === "running");
  expect(await first.stop()).toBe(0);
  const second = await startWeft({ dataDir: first.dataDir });
  running.push(second);
  expect((await second.ended(runId)).status).toBe("completed");
  expect((await second.steps(runId))["s"]).toMatchObject({
    status: "completed",
    attempt: 2,
    output: "attempt 2",
  });
});
