import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { runBenchmark } from "./harness/benchmark.ts";
import { createTemporaryFolder } from "./harness/cleanup.ts";
import { sendLoad } from "./harness/load.ts";
import { watchMemory } from "./harness/memory-watch.ts";
import { cpuMs, memoryOf, untilQuiet } from "./harness/processes.ts";
import { startServer } from "./harness/server.ts";
import { shellMs } from "./harness/shell.ts";
import { markWorkflow } from "./harness/workflows.ts";

const EMITS = 1_000;
const CONNECTIONS = 64;
const DRAIN_MAX_MS = 120_000;
const MS_PER_SECOND = 1000;

await runBenchmark({
  name: "burst",
  what: "1,000 matching emits at 64 connections: the last effect, and memory meanwhile",
  peer: "7.4 s, 452 MB",
  measure: async ({ brief }) => {
    const emits = brief ? 100 : EMITS;
    const marks = createTemporaryFolder("marks");
    const server = await startServer();
    const { port, token, pid } = server;
    await server.storeWorkflow(markWorkflow("mark", "custom.mark", marks));
    const plain = createTemporaryFolder("plain");
    const shell = await shellMs(`seq ${emits} | xargs -P8 -I@ bash -c 'touch ${plain}/@'`);
    await untilQuiet(pid, DRAIN_MAX_MS);
    const idle = memoryOf(pid);
    const cpuBefore = cpuMs(pid);
    const watching = watchMemory(pid);
    const body = JSON.stringify({ topic: "custom.mark", data: { seq: "m{n}" } });
    const report = await sendLoad({
      port,
      token,
      connections: CONNECTIONS,
      count: emits,
      kinds: [{ name: "emit", method: "POST", path: "/automation/events/emit", body }],
    });
    await untilQuiet(pid, DRAIN_MAX_MS);
    const peak = watching.stop();
    const cpu = cpuMs(pid) - cpuBefore;
    const files = readdirSync(marks);
    if (files.length !== emits) throw new Error(`${files.length} effects of ${emits} emits`);
    const last = Math.max(...files.map((name) => statSync(join(marks, name)).mtimeMs));
    const seconds = (last - report.startedAt) / MS_PER_SECOND;
    return {
      figures: [
        { what: "the last effect", value: seconds, unit: "s", target: 7 },
        {
          what: "memory of all processes at most, shared pages once",
          value: peak.mb,
          unit: "MB",
          target: 250,
        },
        { what: "the same as the sum of RSS", value: peak.rssMb, unit: "MB" },
        { what: "memory when all is done", value: memoryOf(pid).mb, unit: "MB" },
        { what: "CPU, steps included", value: cpu / MS_PER_SECOND, unit: "s" },
      ],
      baseline: { xargs_bash_touch_s: shell / MS_PER_SECOND, idle_mb: idle.mb },
      details: { emits, all_acknowledged_s: (report.endedAt - report.startedAt) / MS_PER_SECOND },
    };
  },
});
