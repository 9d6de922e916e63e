import { runBenchmark } from "./harness/benchmark.ts";
import { median } from "./harness/numbers.ts";
import { runMs, startServer } from "./harness/server.ts";
import { shellMs } from "./harness/shell.ts";
import { spawnMs } from "./harness/start.ts";
import { sequence } from "./harness/workflows.ts";

const STEPS = 200;
const ROUNDS = 5;

await runBenchmark({
  name: "bash-steps",
  what: "200 steps of bash that do nothing, one after another",
  peer: "1.5 ms a step, with sh",
  measure: async ({ brief }) => {
    const steps = brief ? 10 : STEPS;
    const server = await startServer();
    await server.storeWorkflow(sequence("bash-steps", steps, 'type: bash, command: "true"'));
    const ours: number[] = [];
    const bash: number[] = [];
    const sh: number[] = [];
    const spawned: number[] = [];
    await runMs(server, "bash-steps");
    for (let round = 0; round < (brief ? 1 : ROUNDS); round += 1) {
      bash.push((await shellMs(`for i in $(seq ${steps}); do bash -c true; done`)) / steps);
      sh.push((await shellMs(`for i in $(seq ${steps}); do sh -c true; done`)) / steps);
      ours.push((await runMs(server, "bash-steps")).ms / steps);
      for (let one = 0; one < steps / 10; one += 1) spawned.push(await spawnMs("bash", ["-c", "true"]));
    }
    const loop = median(bash);
    return {
      figures: [
        { what: "a step, as many times the bash loop's", value: median(ours) / loop, unit: "x", target: 1.1 },
        { what: "a step", value: median(ours), unit: "ms" },
      ],
      baseline: { bash_loop_ms: loop, sh_loop_ms: median(sh), node_spawn_ms: median(spawned) },
      details: { steps, rounds_ms: ours },
    };
  },
});
