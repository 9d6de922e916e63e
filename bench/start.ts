import { setTimeout as sleep } from "node:timers/promises";
import { runBenchmark } from "./harness/benchmark.ts";
import { createTemporaryFolder } from "./harness/cleanup.ts";
import { median } from "./harness/numbers.ts";
import { type Memory, memoryOf } from "./harness/processes.ts";
import { spawnMs, startTimed } from "./harness/start.ts";

const ROUNDS = 5;
/** Time for background work after a start, milliseconds. */
const SETTLE_MS = 3_000;

await runBenchmark({
  name: "start",
  what: "Start of the server to the first 200 of /health; memory when idle",
  peer: "250 ms, 78 MB (n8n: 9 s, 840 MB)",
  measure: async ({ brief }) => {
    const first: number[] = [];
    const later: number[] = [];
    const bare: number[] = [];
    const memory: Memory[] = [];
    for (let round = 0; round < (brief ? 1 : ROUNDS); round += 1) {
      bare.push(await spawnMs(process.execPath, ["-e", "0"]));
      const folder = createTemporaryFolder("start");
      const fresh = await startTimed(folder, "/health");
      first.push(fresh.ms);
      await sleep(SETTLE_MS);
      memory.push(memoryOf(fresh.pid));
      await fresh.stop("SIGTERM");
      const restarted = await startTimed(folder, "/health");
      later.push(restarted.ms);
      await restarted.stop("SIGTERM");
    }
    return {
      figures: [
        { what: "first start, on an empty folder", value: median(first), unit: "ms", target: 400 },
        { what: "later start", value: median(later), unit: "ms", target: 400 },
        {
          what: "memory of all processes 3 s after the start, shared pages once",
          value: median(memory.map(({ mb }) => mb)),
          unit: "MB",
          target: 150,
        },
        { what: "the same as the sum of RSS", value: median(memory.map(({ rssMb }) => rssMb)), unit: "MB" },
      ],
      baseline: { node_ms: median(bare) },
      details: { processes: memory[0]?.processes, first_starts_ms: first.map(Math.round) },
    };
  },
});
