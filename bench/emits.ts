import { runBenchmark } from "./harness/benchmark.ts";
import { measureEcho } from "./harness/echo.ts";
import { seconds, sendLoad } from "./harness/load.ts";
import { cpuMs, untilQuiet } from "./harness/processes.ts";
import { type Server, startServer } from "./harness/server.ts";

const CONNECTIONS = 16;
const BODY = JSON.stringify({ topic: "custom.bench", data: { n: "{n}", host: "a.example" } }).replace(
  '"{n}"',
  "{n}",
);
const EMIT = { name: "emit", method: "POST", path: "/automation/events/emit", body: BODY, takes: "event_id" };
const WARM_UP = 2_000;
const PAGE = 10_000;
const DRAIN_MAX_MS = 600_000;

await runBenchmark({
  name: "emits",
  what: "Emits without a match, 16 connections, acknowledged when they are on disk",
  peer: "4,700/s, none of them recorded",
  measure: async ({ brief }) => {
    const load = { connections: CONNECTIONS, kinds: [EMIT], seconds: brief ? 1 : 10 };
    const echo = await measureEcho({ ...load, kinds: [{ ...EMIT, takes: "host" }] });
    const server = await startServer();
    const { port, token, pid, dataDir } = server;
    const warm = await sendLoad({ ...load, port, token, count: WARM_UP });
    await untilQuiet(pid, DRAIN_MAX_MS);

    const before = cpuMs(pid);
    const startedAt = performance.now();
    const report = await sendLoad({ ...load, port, token });
    const acknowledged = cpuMs(pid) - before;
    const drainedAt = await untilQuiet(pid, DRAIN_MAX_MS);
    const drained = cpuMs(pid) - before;

    // SIGKILL, because acknowledged events must be durable without a graceful stop.
    await server.kill();
    const restarted = await startServer({ dataDir });
    const ids = [...(warm.taken.emit ?? []), ...(report.taken.emit ?? [])];
    const missing = await missingFrom(restarted, ids);
    if (missing > 0) throw new Error(`${missing} of ${ids.length} acknowledged events are not in the log`);

    const { answers } = report;
    const cpuUs = (acknowledged * 1000) / answers;
    const emit = report.kinds.emit;
    return {
      figures: [
        {
          what: "acknowledged a second",
          value: answers / seconds(report),
          unit: "/s",
          target: 9_000,
          atLeast: true,
        },
        { what: "CPU a request, as many times the echo's", value: cpuUs / echo.cpuUs, unit: "x", target: 2 },
        { what: "CPU a request until acknowledged", value: cpuUs, unit: "us" },
        { what: "CPU an event until drained", value: (drained * 1000) / answers, unit: "us" },
        { what: "p50", value: emit?.p50 ?? 0, unit: "ms" },
        { what: "p99", value: emit?.p99 ?? 0, unit: "ms" },
        { what: "missing from the log after kill -9", value: missing, unit: "events", target: 0 },
      ],
      baseline: { echo_per_second: echo.perSecond, echo_cpu_us: echo.cpuUs, echo_p50_ms: echo.p50 },
      details: {
        events: ids.length,
        drained_after_s: Math.max(0, drainedAt - startedAt - seconds(report) * 1000) / 1000,
      },
    };
  },
});

/** Number of ids that the log does not contain. Throws if the log contains other events. */
async function missingFrom(server: Server, ids: readonly string[]): Promise<number> {
  const wanted = new Set(ids.map((id) => id.replace(/^evt_/, "")));
  if (wanted.size !== ids.length) throw new Error("an event id was given twice");
  for (let offset = 0, total = 1; offset < total; offset += PAGE) {
    const page = await server.get<{ data: { event_id: string }[]; pagination: { total: number } }>(
      `/event-logs?topic=custom.bench&limit=${PAGE}&offset=${offset}`,
    );
    total = page.pagination.total;
    for (const { event_id } of page.data) wanted.delete(event_id);
    if (total !== ids.length) throw new Error(`the log counts ${total} events of ${ids.length}`);
  }
  return wanted.size;
}
