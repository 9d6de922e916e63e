import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

const FLOW = `
name: interrupted
modules:
  - name: patient
    steps:
      - name: again
        type: bash
        command: test -e {{Output}}/ready && echo try {{attempt}}
        retry: {max_attempts: 20, delay: 200ms, backoff: 1}
  - name: beside
    condition: Target.length > 0
    steps:
      - {name: quick, type: bash, command: echo quick}
  - name: last
    depends_on: [patient, beside]
    steps:
      - name: sum
        type: bash
        command: echo {{again_output}} and {{quick_output}}; touch {{Output}}/done
`;

/** Number of kills while a step waits for its next attempt. */
const KILLS = 2;

test("a flow continues after each kill -9 while a step waits for its next attempt", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "weft-flows-killed-"));
  const env = { WEFT_ACCESS_TOKEN: "0123456789abcdef-flows" };
  let weft: TestServer = await startTestServer({ dataDir, env });
  try {
    await weft.storeWorkflow(FLOW);
    const runId = await weft.startRun({ flow: "interrupted", target: "t", workspace: "w" });
    for (let kill = 0; kill < KILLS; kill += 1) {
      const waits = async (): Promise<number> =>
        (await weft.history(runId)).filter(({ type }) => type === "step.waits").length;
      const before = await waits();
      await waitUntil("another try that failed", async () => (await waits()) > before);
      await weft.kill();
      weft = await startTestServer({ dataDir, env });
    }
    await weft.storeWorkflow("name: ready\nsteps: [{name: s, type: bash, command: touch ready}]\n");
    await weft.run({ module: "ready", target: "t", workspace: "w" });
    expect(await weft.waitForRun(runId)).toMatchObject({ status: "completed", completed_steps: 3 });
    const { again, sum } = await weft.steps(runId);
    expect(again?.attempt).toBeGreaterThan(KILLS);
    expect(sum?.output).toBe(`try ${again?.attempt} and quick`);
    const modules = (await weft.history(runId)).filter(({ type }) => type === "module.finished");
    expect(modules).toHaveLength(3);
  } finally {
    await weft[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}, 60_000);
