import { runBenchmark } from "./harness/benchmark.ts";
import { fsyncMs } from "./harness/disk.ts";
import { median } from "./harness/numbers.ts";
import { runMs, type Server, startServer } from "./harness/server.ts";
import { sequence } from "./harness/workflows.ts";

const STEPS = 200;
const ROUNDS = 5;

await runBenchmark({
  name: "function-steps",
  what: "200 function steps of `1 + 1`, one after another",
  peer: "0.5 ms a step, in one VM that all runs share",
  measure: async ({ brief }) => {
    const steps = brief ? 10 : STEPS;
    const server = await startServer();
    await server.storeWorkflow(sequence("function-steps", steps, 'type: function, function: "1 + 1"'));
    const whole: number[] = [];
    const afterFirst: number[] = [];
    await runMs(server, "function-steps");
    for (let round = 0; round < (brief ? 1 : ROUNDS); round += 1) {
      const { runId, ms } = await runMs(server, "function-steps");
      whole.push(ms / steps);
      afterFirst.push((await msAfterFirst(server, runId, steps)) / (steps - 1));
    }
    return {
      figures: [
        { what: "a step after the first", value: median(afterFirst), unit: "ms", target: 0.5 },
        { what: "a step, the first and the run's end with it", value: median(whole), unit: "ms" },
      ],
      baseline: { fsync_ms: fsyncMs() },
      details: { steps },
    };
  },
});

/** Time from the end of the first step to the end of the last, milliseconds. Throws if an output is wrong. */
async function msAfterFirst(server: Server, runId: string, count: number): Promise<number> {
  const steps = Object.values(await server.steps(runId));
  const right = steps.filter(({ status, output }) => status === "completed" && output === "2");
  if (steps.length !== count || right.length !== count)
    throw new Error(`${right.length} of ${count} steps completed with 2`);
  const ends = steps.map(({ completed_at }) => Date.parse(completed_at ?? ""));
  return Math.max(...ends) - Math.min(...ends);
}
