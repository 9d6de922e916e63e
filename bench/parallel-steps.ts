import { runBenchmark } from "./harness/benchmark.ts";
import { median } from "./harness/numbers.ts";
import { runMs, startServer } from "./harness/server.ts";
import { shellMs } from "./harness/shell.ts";

const STEPS = 20;
const ROUNDS = 5;
const MS_PER_SECOND = 1000;

await runBenchmark({
  name: "parallel-steps",
  what: "20 times `sleep 0.2` in parallel-steps",
  peer: "1.03 s",
  measure: async ({ brief }) => {
    const server = await startServer();
    const inner = Array.from(
      { length: STEPS },
      (_, at) => `      - { name: s${at}, type: bash, command: sleep 0.2 }`,
    );
    const yaml = `name: parallel\nsteps:\n  - name: all\n    type: parallel-steps\n    parallel_steps:\n`;
    await server.storeWorkflow(`${yaml}${inner.join("\n")}\n`);
    await runMs(server, "parallel");
    const ours: number[] = [];
    const shell: number[] = [];
    for (let round = 0; round < (brief ? 1 : ROUNDS); round += 1) {
      shell.push(await shellMs(`for i in $(seq ${STEPS}); do sleep 0.2 & done; wait`));
      ours.push((await runMs(server, "parallel")).ms);
    }
    return {
      figures: [{ what: "the run", value: median(ours) / MS_PER_SECOND, unit: "s", target: 0.3 }],
      baseline: { shell_s: median(shell) / MS_PER_SECOND },
      details: { rounds_ms: ours },
    };
  },
});
