import { type Figure, runBenchmark } from "./harness/benchmark.ts";
import { createTemporaryFolder } from "./harness/cleanup.ts";
import { type Counts, startCountingServer } from "./harness/counting.ts";
import { sendLoad } from "./harness/load.ts";
import type { RequestKind } from "./harness/load-plan.ts";
import { runMs } from "./harness/server.ts";
import { markWorkflow, sequence } from "./harness/workflows.ts";

const EMIT: RequestKind = {
  name: "emit",
  method: "POST",
  path: "/automation/events/emit",
  body: JSON.stringify({ topic: "custom.bench", data: { n: "{n}", host: "a.example" } }),
};
const MATCHING: RequestKind = {
  ...EMIT,
  body: JSON.stringify({ topic: "custom.mark", data: { seq: "m{n}" } }),
};
const LIST: RequestKind = { name: "list", method: "GET", path: "/automation/event-logs?limit=20" };

/** Counts that are figures of their own. System calls are in the details. */
const SHOWN = ["COMMIT", "rows written", "SELECT", "JSON.parse", "JSON.stringify"] as const;

await runBenchmark({
  name: "counts",
  what: "What one request or step costs, from its arrival until nothing of it is left to do",
  peer: "-",
  measure: async ({ brief }) => {
    const server = await startCountingServer();
    const { port, token } = server;
    await server.storeWorkflow(markWorkflow("mark", "custom.mark", createTemporaryFolder("marks")));
    const steps = brief ? 5 : 100;
    await server.storeWorkflow(sequence("functions", steps, 'type: function, function: "1 + 1"'));
    await server.storeWorkflow(sequence("shell", steps, 'type: bash, command: "true"'));
    const load = (kind: RequestKind, connections: number, count: number) => () =>
      sendLoad({ port, token, connections, kinds: [kind], count: brief ? 20 : count });
    const paths: readonly [name: string, times: number, work: () => Promise<unknown>][] = [
      ["emit, 1 connection", brief ? 20 : 500, load(EMIT, 1, 500)],
      ["emit, 16 connections", brief ? 20 : 4_000, load(EMIT, 16, 4_000)],
      ["emit with a match and its run of one bash step", brief ? 20 : 200, load(MATCHING, 1, 200)],
      ["page of the event log", brief ? 20 : 500, load(LIST, 1, 500)],
      ["function step", steps, () => runMs(server, "functions")],
      ["bash step", steps, () => runMs(server, "shell")],
    ];
    const figures: Figure[] = [];
    const systemCalls: Record<string, Counts> = {};
    for (const [name, times, work] of paths) {
      await work();
      const counts = await server.countOf(work);
      for (const what of SHOWN)
        figures.push({ what: `${name}: ${what}`, value: (counts[what] ?? 0) / times, unit: "" });
      const calls = each(await server.systemCallsOf(work), times);
      systemCalls[name] = calls;
      const all = Object.values(calls).reduce((sum, one) => sum + one, 0);
      if (all > 0) figures.push({ what: `${name}: system calls`, value: all, unit: "" });
    }
    return {
      figures: figures as [Figure, ...Figure[]],
      baseline: {},
      details: { system_calls: systemCalls },
    };
  },
});

/** Divides counts by `times` and drops those below 0.01. */
function each(counts: Counts, times: number): Counts {
  const ofOne = Object.entries(counts).map(([name, all]): [string, number] => [name, all / times]);
  return Object.fromEntries(ofOne.filter(([, one]) => one >= 0.01));
}
