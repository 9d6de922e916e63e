import { type Figure, runBenchmark } from "./harness/benchmark.ts";
import { measureEcho } from "./harness/echo.ts";
import { seconds, sendLoad } from "./harness/load.ts";
import type { LoadPlan, RequestKind } from "./harness/load-plan.ts";
import { cpuMs, untilQuiet } from "./harness/processes.ts";
import { type Server, startServer } from "./harness/server.ts";

const BODY = JSON.stringify({ topic: "custom.bench", data: { n: "{n}", host: "a.example" } }).replace(
  '"{n}"',
  "{n}",
);
const EMIT = { name: "emit", method: "POST", path: "/automation/events/emit", body: BODY, takes: "event_id" };
const BATCH = 1_000;
const BATCHES: RequestKind = { ...EMIT, body: `[${Array(BATCH).fill(BODY).join(",")}]`, takesAll: true };
const WARM_UP = 2_000;
const WARM_UP_BATCHES = 20;
const SECONDS = 5;
/** The first one is compared with the echo. */
const LOADS = [
  { connections: 16, perSecond: 9_000, cpuUs: 100 },
  { connections: 1, perSecond: 2_500, cpuUs: 250 },
  { connections: 64, perSecond: 12_000, cpuUs: 80 },
] as const;
/** One request is received while another one is recorded. */
const BATCH_CONNECTIONS = 2;
const BATCH_EVENTS_PER_SECOND = 60_000;
const ECHO_CONNECTIONS = 16;
const PAGE = 10_000;
const DRAIN_MAX_MS = 600_000;

await runBenchmark({
  name: "emits",
  what: "Emits without a match, acknowledged when they are on disk",
  peer: "4,700/s, none of them recorded",
  measure: async ({ brief }) => {
    const length = { seconds: brief ? 0.5 : SECONDS };
    const echoed = { ...length, connections: ECHO_CONNECTIONS, kinds: [{ ...EMIT, takes: "host" }] };
    const echo = await measureEcho(echoed);
    const server = await startServer();
    const { port, token, dataDir } = server;
    const warm = await sendLoad({
      port,
      token,
      connections: ECHO_CONNECTIONS,
      kinds: [EMIT],
      count: WARM_UP,
    });
    const ids = [...(warm.taken.emit ?? [])];
    const figures: Figure[] = [];
    for (const { connections, perSecond, cpuUs } of LOADS) {
      const load = await measure(server, { ...length, port, token, connections, kinds: [EMIT] }, ids);
      const of = connections === 1 ? "1 connection" : `${connections} connections`;
      const { p50 = 0, p99 = 0 } = load.report.kinds.emit ?? {};
      figures.push(
        { what: `${of}: acknowledged`, value: load.perSecond, unit: "/s", target: perSecond, atLeast: true },
        { what: `${of}: CPU a request until acknowledged`, value: load.cpuUs, unit: "us", target: cpuUs },
        { what: `${of}: CPU an event until drained`, value: load.drainedUs, unit: "us" },
        { what: `${of}: p50`, value: p50, unit: "ms" },
        { what: `${of}: p99`, value: p99, unit: "ms" },
      );
      if (connections === ECHO_CONNECTIONS)
        figures.push({
          what: `${of}: CPU a request, as many times the echo's`,
          value: load.cpuUs / echo.cpuUs,
          unit: "x",
          target: 2,
        });
    }
    const plan = { port, token, connections: BATCH_CONNECTIONS, kinds: [BATCHES] };
    const warmed = await sendLoad({ ...plan, count: WARM_UP_BATCHES });
    for (const id of warmed.taken.emit ?? []) ids.push(id);
    const batches = await measure(server, { ...plan, ...length }, ids);
    figures.push(
      {
        what: `batch emit of ${BATCH}: acknowledged`,
        value: batches.perSecond * BATCH,
        unit: "events/s",
        target: BATCH_EVENTS_PER_SECOND,
        atLeast: true,
      },
      {
        what: `batch emit of ${BATCH}: CPU an event until acknowledged`,
        value: batches.cpuUs / BATCH,
        unit: "us",
      },
      {
        what: `batch emit of ${BATCH}: CPU an event until drained`,
        value: batches.drainedUs / BATCH,
        unit: "us",
      },
      { what: `batch emit of ${BATCH}: p50`, value: batches.report.kinds.emit?.p50 ?? 0, unit: "ms" },
    );

    // SIGKILL, because acknowledged events must be durable without a graceful stop.
    await server.kill();
    const restarted = await startServer({ dataDir });
    const missing = await missingFrom(restarted, ids);
    if (missing > 0) throw new Error(`${missing} of ${ids.length} acknowledged events are not in the log`);
    figures.push({ what: "missing from the log after kill -9", value: missing, unit: "events", target: 0 });
    return {
      figures: figures as [Figure, ...Figure[]],
      baseline: { echo_per_second: echo.perSecond, echo_cpu_us: echo.cpuUs, echo_p50_ms: echo.p50 },
      details: { events: ids.length, batches_drained_after_s: batches.drainedAfterS },
    };
  },
});

/** Sends a load when the server is idle, waits until no work is left, and collects the ids of the events. */
async function measure({ pid }: Server, plan: LoadPlan, ids: string[]) {
  await untilQuiet(pid, DRAIN_MAX_MS);
  const before = cpuMs(pid);
  const report = await sendLoad(plan);
  const acknowledged = cpuMs(pid) - before;
  const endedAt = performance.now();
  const drainedAt = await untilQuiet(pid, DRAIN_MAX_MS);
  const drained = cpuMs(pid) - before;
  for (const id of report.taken.emit ?? []) ids.push(id);
  return {
    report,
    perSecond: report.answers / seconds(report),
    cpuUs: (acknowledged * 1000) / report.answers,
    drainedUs: (drained * 1000) / report.answers,
    drainedAfterS: Math.max(0, drainedAt - endedAt) / 1000,
  };
}

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
