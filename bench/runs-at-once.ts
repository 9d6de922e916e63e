import type { RunRecord } from "../lib/workflows/runs/read.ts";
import { runBenchmark } from "./harness/benchmark.ts";
import { sendLoad } from "./harness/load.ts";
import { median } from "./harness/numbers.ts";
import { untilQuiet } from "./harness/processes.ts";
import { type Server, startServer } from "./harness/server.ts";
import { shellMs } from "./harness/shell.ts";
import { sequence } from "./harness/workflows.ts";

const RUNS = 50;
const ROUNDS = 5;
const QUIET_MAX_MS = 60_000;

await runBenchmark({
  name: "runs-at-once",
  what: "50 runs of one bash step created at once, all finished",
  peer: "438 ms",
  measure: async ({ brief }) => {
    const server = await startServer();
    await server.storeWorkflow(sequence("one", 1, 'type: bash, command: "true"'));
    await round(server);
    const finished: number[] = [];
    const answered: number[] = [];
    const shell: number[] = [];
    for (let at = 0; at < (brief ? 1 : ROUNDS); at += 1) {
      shell.push(await shellMs(`for i in $(seq ${RUNS}); do bash -c true & done; wait`));
      const one = await round(server);
      finished.push(one.finished);
      answered.push(one.answered);
    }
    return {
      figures: [
        { what: "all finished", value: median(finished), unit: "ms", target: 450 },
        { what: "all answered", value: median(answered), unit: "ms" },
      ],
      baseline: { shell_ms: median(shell) },
      details: { runs: RUNS, rounds_ms: finished.map(Math.round) },
    };
  },
});

async function round(server: Server): Promise<{ finished: number; answered: number }> {
  const { port, token } = server;
  const report = await sendLoad({
    port,
    token,
    connections: RUNS,
    count: RUNS,
    kinds: [
      {
        name: "run",
        method: "POST",
        path: "/automation/runs",
        takes: "run_id",
        body: JSON.stringify({ module: "one" }),
        expect: 202,
      },
    ],
  });
  const runs: RunRecord[] = [];
  // Sequential, because concurrent requests would add load.
  for (const id of report.taken.run ?? []) runs.push(await server.waitForRun(id));
  const bad = runs.find(({ status }) => status !== "completed");
  if (runs.length !== RUNS || bad !== undefined)
    throw new Error(`${runs.length} runs, one ${bad?.status}: ${bad?.error_message}`);
  const ends = runs.map(({ completed_at }) => Date.parse(completed_at ?? ""));
  await untilQuiet(server.pid, QUIET_MAX_MS);
  return { finished: Math.max(...ends) - report.startedAt, answered: report.endedAt - report.startedAt };
}
