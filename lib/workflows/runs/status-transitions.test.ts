import fc from "fast-check";
import { expect, it } from "vitest";
import { testDeps } from "../../testing/test-deps.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import type { RunStatus } from "../engine/history.ts";
import { cancelRun } from "./cancel.ts";
import { conduct } from "./conduct.ts";
import { getRun } from "./read.ts";
import { duplicateRun, rerunRun, startPending } from "./rerun.ts";
import { resumeRun } from "./resume.ts";
import { startBody, startRun } from "./start.ts";
import { ACTION_STATUSES, isDirectTransition, type RunAction, TRANSITIONS } from "./status-transitions.ts";

it("terminal statuses have no transitions, and every other status leads to a terminal one", () => {
  for (const status of ["completed", "failed", "cancelled"] as const) expect(TRANSITIONS[status]).toEqual([]);
  expect(TRANSITIONS.pending).not.toContain("completed");
  expect(isDirectTransition("cancelled", "running")).toBe(false);
  expect(isDirectTransition("running", "running")).toBe(true);
});

const step = fc.constantFrom(
  "start",
  "cancel",
  "resume",
  "duplicate",
  "rerun",
  "work",
  "decide",
  "time out",
) satisfies fc.Arbitrary<RunAction | "work" | "decide" | "time out">;

it("any sequence of actions follows the table of transitions, as do rejections", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), fc.boolean(), async (steps, fails) => {
      const test = await testDeps({ command: async () => ({ exitCode: fails ? 1 : 0 }) });
      try {
        const { deps } = test;
        await storeWorkflow(deps, "name: m\nsteps: [{name: s, type: bash, command: echo}]\n");
        const { run_id } = await startRun(deps, startBody.parse({ module: "m" }));
        let before: RunStatus = "pending";
        for (const one of steps) {
          if (one === "work") await test.drain();
          else if (one === "decide") await test.drain(["bash"]);
          else if (one === "time out")
            await conduct(deps, { run_id, input: { type: "fail", error: "timed out" } });
          else {
            const act = {
              start: () => startPending(deps, run_id),
              cancel: () => cancelRun(deps, run_id),
              resume: () => resumeRun(deps, run_id),
              duplicate: () => duplicateRun(deps, run_id),
              rerun: () => rerunRun(deps, run_id, {}),
            }[one];
            const allowed = (ACTION_STATUSES[one] as readonly RunStatus[]).includes(before);
            const outcome = await act().then(
              () => "done",
              (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
            );
            // A run that ended before its first step cannot be resumed.
            const nothing = outcome.includes("before its first step");
            expect(outcome === "done" || nothing).toBe(allowed);
            if (!allowed) expect(outcome).toMatch(/^bad_request: Cannot/);
          }
          const { status } = await getRun(deps, run_id);
          const path = before === "pending" && status === "completed" ? ["running", "completed"] : [status];
          let at: RunStatus = before;
          for (const next of path as RunStatus[]) {
            expect(isDirectTransition(at, next)).toBe(true);
            at = next;
          }
          before = status;
        }
      } finally {
        await test.close();
      }
    }),
    { numRuns: 40 },
  );
}, 60_000);
