import { describe, expect, it } from "vitest";
import { testDeps } from "../../testing/test-deps.ts";
import { collectPages, onTopic, storeWorkflow } from "../../testing/test-workflows.ts";
import { listDeadLetters } from "../dead-letters/dead-letters.ts";
import { getRun } from "../runs/read.ts";
import { startRun } from "../runs/start.ts";

describe("an executor that meets a platform fault", () => {
  it("retries immediately, and succeeds once the fault is gone", async () => {
    let faults = 2;
    const flaky = await testDeps({
      command: async () => {
        faults -= 1;
        if (faults >= 0)
          throw Object.assign(new Error("no space left on the storage"), { code: "storage_full" });
        return {};
      },
    });
    await storeWorkflow(flaky.deps, onTopic("a", "custom.x"));
    const { run_id } = await startRun(flaky.deps, { module: "a" });
    await flaky.drain();
    expect(await getRun(flaky.deps, run_id)).toMatchObject({ status: "completed" });
    expect(flaky.commands).toHaveLength(3);
    await flaky.close();
  });

  it("dead-letters the request of a permanent fault, and fails the run", async () => {
    const full = await testDeps({
      command: () =>
        Promise.reject(Object.assign(new Error("no space left on the storage"), { code: "storage_full" })),
    });
    await storeWorkflow(full.deps, onTopic("a", "custom.x"));
    const { run_id } = await startRun(full.deps, { module: "a" });
    await full.drain();
    expect(await getRun(full.deps, run_id)).toMatchObject({
      status: "failed",
      error_message: "step only could not be executed: no space left on the storage",
    });
    expect(
      await collectPages((await listDeadLetters(full.deps, { offset: 0, limit: 10 })).items),
    ).toMatchObject([{ queue: "bash", error: "no space left on the storage" }]);
    await full.close();
  });
});
