import { setTimeout as sleep } from "node:timers/promises";
import { runBenchmark } from "./harness/benchmark.ts";
import { sendLoad, startLoad } from "./harness/load.ts";
import type { LoadPlan, LoadReport, RequestKind } from "./harness/load-plan.ts";
import { median, slope } from "./harness/numbers.ts";
import { memoryOf, openFilesOf, treeOf, untilQuiet } from "./harness/processes.ts";
import { type Server, startServer } from "./harness/server.ts";
import { sequence } from "./harness/workflows.ts";

const MINUTES = 30;
const BRIEF_MINUTES = 0.1;
const CONNECTIONS = 16;
const CALIBRATION_SECONDS = 20;
const SAMPLE_MS = 5_000;
/** Caches and heaps are as large as they get by then. */
const WARM_UP_MINUTES = 5;
const DRAIN_MAX_MS = 600_000;
/** What counts as flat: growth of memory from the warm-up to the end, % of what there was; open files in all. */
const FLAT_PERCENT = 5;
const FLAT_FILES = 5;
const MS_PER_MINUTE = 60_000;

const emit = (name: string, weight: number, body: unknown): RequestKind => ({
  ...{ name, weight, method: "POST", path: "/automation/events/emit", body: JSON.stringify(body) },
});
const list = (name: string, weight: number, path: string): RequestKind => ({
  ...{ name, weight, method: "GET", path: `/automation${path}` },
});
const run = (name: string, module: string): RequestKind => ({
  ...{ name, weight: 2, method: "POST", path: "/automation/runs", expect: 202, takes: "run_id" },
  body: JSON.stringify({ module }),
});

/** Of a hundred requests. */
const KINDS: readonly RequestKind[] = [
  emit("emit", 76, { topic: "custom.bench", data: { host: "a.example" } }),
  emit("emit with a match", 3, { topic: "custom.match", data: { host: "a.example" } }),
  emit("emit of an asset", 3, { topic: "asset.discovered", data: { host: "host-{n}.example" } }),
  list("newest events", 4, "/event-logs?limit=20"),
  list("filtered events", 4, "/event-logs?topic=custom.match&processed=true&source=api&limit=20"),
  list("runs", 2, "/runs?limit=20"),
  list("assets", 2, "/assets?limit=20"),
  run("run", "short"),
  run("slow run", "slow"),
  { name: "cancel", weight: 2, method: "DELETE", path: "/automation/runs/{id}", needs: "slow run" },
];

interface Sample {
  readonly minute: number;
  readonly mb: number;
  readonly files: number;
}

await runBenchmark({
  name: "soak",
  what: "Mixed traffic at half the ceiling: growth of memory after the first five minutes",
  peer: "-",
  measure: async ({ brief, minutes = brief ? BRIEF_MINUTES : MINUTES }) => {
    const server = await startServer();
    await prepare(server);
    const { port, token, pid } = server;
    const plan: LoadPlan = { port, token, connections: CONNECTIONS, kinds: KINDS };
    // The server and its runner, and none of what steps start.
    const lasting = treeOf(pid);
    const first = await sendLoad({ ...plan, seconds: brief ? 1 : CALIBRATION_SECONDS });
    // What was accepted must be done, too: the ceiling is what the server keeps up with.
    const quietAt = performance.timeOrigin + (await untilQuiet(pid, DRAIN_MAX_MS));
    const ceiling = (first.answers * 1000) / (Math.max(quietAt, first.endedAt) - first.startedAt);
    const rate = ceiling / 2;

    const { report, samples } = await soak(server, { ...plan, rate }, minutes, lasting);
    await untilQuiet(pid, DRAIN_MAX_MS);
    const emitted = answersOf(first, "emit") + answersOf(report, "emit");
    const kept = await totalOf(server, "custom.bench");
    if (kept !== emitted) throw new Error(`the log holds ${kept} of ${emitted} acknowledged events`);

    const warm = samples.filter(({ minute }) => minute >= Math.min(WARM_UP_MINUTES, minutes / 3));
    const perMinute = slope(warm.map(({ minute, mb }) => [minute, mb]));
    const lasted = (warm.at(-1)?.minute ?? 0) - (warm[0]?.minute ?? 0);
    const quarter = Math.ceil(warm.length / 4);
    const files = (part: readonly Sample[]): number => median(part.map((sample) => sample.files));
    const level = median(warm.map(({ mb }) => mb));
    return {
      figures: [
        {
          what: "growth of memory by the line that fits best",
          ...{ value: (100 * perMinute * lasted) / level, unit: "%", target: FLAT_PERCENT },
        },
        { what: "the same, an hour", value: perMinute * 60, unit: "MB" },
        { what: "memory of all processes, shared pages once", value: level, unit: "MB" },
        {
          what: "growth of open files",
          ...{ value: files(warm.slice(-quarter)) - files(warm.slice(0, quarter)), unit: "files" },
          target: FLAT_FILES,
        },
        { what: "errors", value: report.errors, unit: "answers", target: 0 },
        { what: "requests a second", value: rate, unit: "/s" },
        ...Object.entries(report.kinds).map(([kind, { p99 }]) => ({
          ...{ what: `p99, ${kind}`, value: p99, unit: "ms" },
        })),
      ],
      baseline: { ceiling_per_second: ceiling },
      details: {
        ...{ minutes, requests: report.answers, emitted, error_samples: report.samples },
        p50_ms: Object.fromEntries(Object.entries(report.kinds).map(([kind, { p50 }]) => [kind, p50])),
        mb_each_minute: samples.filter((_, at) => at % (MS_PER_MINUTE / SAMPLE_MS) === 0).map(({ mb }) => mb),
      },
    };
  },
});

async function prepare(server: Server): Promise<void> {
  const trigger = "triggers:\n  - { name: on-match, type: event, topic: custom.match }\n";
  await server.save(`${sequence("matched", 1, 'type: bash, command: "true"')}${trigger}`);
  await server.save(sequence("short", 2, 'type: function, function: "1 + 1"'));
  await server.save(sequence("slow", 1, "type: bash, command: sleep 600"));
}

async function soak(
  server: Server,
  plan: LoadPlan,
  minutes: number,
  lasting: readonly number[],
): Promise<{ report: LoadReport; samples: Sample[] }> {
  const { pid } = server;
  const load = startLoad(plan);
  const samples: Sample[] = [];
  const startedAt = performance.now();
  const watch = async (): Promise<void> => {
    for (let minute = 0; minute < minutes; ) {
      await sleep(Math.min(SAMPLE_MS, (minutes * MS_PER_MINUTE) / 10));
      minute = (performance.now() - startedAt) / MS_PER_MINUTE;
      samples.push({ minute, mb: memoryOf(pid).mb, files: openFilesOf(lasting) });
    }
  };
  await Promise.race([watch(), load.report.then(() => Promise.reject(new Error("the load stopped")))]);
  return { report: await load.stop(), samples };
}

function answersOf({ kinds }: LoadReport, kind: string): number {
  return kinds[kind]?.answers ?? 0;
}

async function totalOf(server: Server, topic: string): Promise<number> {
  const page = await server.get<{ pagination: { total: number } }>(`/event-logs?topic=${topic}&limit=1`);
  return page.pagination.total;
}
