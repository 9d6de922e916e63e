import { runBenchmark } from "./harness/benchmark.ts";
import { watchDisk } from "./harness/disk.ts";
import { sendLoad } from "./harness/load.ts";
import type { LoadReport, RequestKind } from "./harness/load-plan.ts";
import { median, slope } from "./harness/numbers.ts";
import { untilQuiet } from "./harness/processes.ts";
import { type Server, startServer } from "./harness/server.ts";
import { type Sample, watchedLoad } from "./harness/watched-load.ts";
import { sequence } from "./harness/workflows.ts";

const MINUTES = 30;
const BRIEF_MINUTES = 0.1;
const CONNECTIONS = 16;
const CALIBRATION_SECONDS = 20;
/** Time until caches and heaps have reached their size. */
const WARM_UP_MINUTES = 5;
const DRAIN_MAX_MS = 600_000;
/** Limits for flat usage: growth of memory after the warm-up, percent; growth of open files, number. */
const FLAT_PERCENT = 5;
const FLAT_FILES = 5;
/** Maximum p99, milliseconds. A disk that stalls for longer than this in more than 1 % of the time prevents it. */
const P99_MS = 25;

const emit = (name: string, weight: number, body: unknown): RequestKind => ({
  name,
  weight,
  method: "POST",
  path: "/automation/events/emit",
  body: JSON.stringify(body),
});
const list = (name: string, weight: number, path: string): RequestKind => ({
  name,
  weight,
  method: "GET",
  path: `/automation${path}`,
});
const run = (name: string, module: string): RequestKind => ({
  name,
  weight: 2,
  method: "POST",
  path: "/automation/runs",
  expect: 202,
  takes: "run_id",
  body: JSON.stringify({ module }),
});

/** Weights add up to 100. */
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

await runBenchmark({
  name: "soak",
  what: "Mixed traffic at half the ceiling: growth of memory after the first five minutes",
  peer: "-",
  measure: async ({ brief, minutes = brief ? BRIEF_MINUTES : MINUTES }) => {
    const server = await startServer();
    await prepare(server);
    const { port, token, pid } = server;
    const plan = { port, token, connections: CONNECTIONS, kinds: KINDS };
    const first = await sendLoad({ ...plan, seconds: brief ? 1 : CALIBRATION_SECONDS });
    // The ceiling is the rate that the server processes, not only accepts.
    const quietAt = performance.timeOrigin + (await untilQuiet(pid, DRAIN_MAX_MS));
    const ceiling = (first.answers * 1000) / (Math.max(quietAt, first.endedAt) - first.startedAt);
    const rate = ceiling / 2;

    const tell = (line: string): boolean => process.stderr.write(`soak: ${line}\n`);
    tell(`the ceiling is ${Math.round(ceiling)} requests a second; ${minutes} minutes at half of it`);
    const disk = watchDisk(P99_MS);
    const { report, samples } = await watchedLoad(
      server,
      { ...plan, rate },
      {
        minutes,
        tell: (line) => tell(`${line}; the disk stalled ${disk.recent().toFixed(2)} % of the time`),
      },
    );
    const pauses = await disk.stop();
    tell("waits until all that was accepted is done");
    await untilQuiet(pid, DRAIN_MAX_MS);

    const warm = samples.filter(({ minute }) => minute >= Math.min(WARM_UP_MINUTES, minutes / 3));
    const level = median(warm.map(({ mb }) => mb));
    const perMinute = slope(warm.map(({ minute, mb }) => [minute, mb]));
    const lasted = (warm.at(-1)?.minute ?? 0) - (warm[0]?.minute ?? 0);
    return {
      figures: [
        {
          what: "growth of memory by the line that fits best",
          value: (100 * perMinute * lasted) / level,
          unit: "%",
          target: FLAT_PERCENT,
        },
        { what: "the same, an hour", value: perMinute * 60, unit: "MB" },
        { what: "memory of all processes, shared pages once", value: level, unit: "MB" },
        { what: "growth of open files", value: growthOfFiles(warm), unit: "files", target: FLAT_FILES },
        { what: "errors", value: report.errors, unit: "answers", target: 0 },
        {
          what: "requests a second",
          value: (report.answers * 1000) / (report.endedAt - report.startedAt),
          unit: "/s",
        },
        { what: "p99, all requests", value: report.p99, unit: "ms", target: P99_MS },
        ...Object.entries(report.kinds).map(([kind, { p99 }]) => ({
          what: `p99, ${kind}`,
          value: p99,
          unit: "ms",
        })),
      ],
      baseline: {
        ceiling_per_second: ceiling,
        fdatasync_p50_ms: pauses.p50,
        fdatasync_p99_ms: pauses.p99,
        fdatasync_max_ms: pauses.max,
        disk_stalled_percent: pauses.stalled,
      },
      details: {
        minutes,
        requests: report.answers,
        error_samples: report.samples,
        p50_ms: Object.fromEntries(Object.entries(report.kinds).map(([kind, { p50 }]) => [kind, p50])),
        mb_each_minute: eachMinute(samples).map(({ mb }) => mb),
        files_each_minute: eachMinute(samples).map(({ files }) => files),
      },
      faults: [
        ...report.samples.map((sample) => `unexpected answer: ${sample}`),
        ...(await findUnprocessed(server, (kind) => answersOf(first, kind) + answersOf(report, kind))),
      ],
    };
  },
});

async function prepare(server: Server): Promise<void> {
  const trigger = "triggers:\n  - { name: on-match, type: event, topic: custom.match }\n";
  await server.storeWorkflow(`${sequence("matched", 1, 'type: bash, command: "true"')}${trigger}`);
  await server.storeWorkflow(sequence("short", 2, 'type: function, function: "1 + 1"'));
  await server.storeWorkflow(sequence("slow", 1, "type: bash, command: sleep 600"));
}

/** Finds acknowledged requests that are missing or unprocessed. */
async function findUnprocessed(server: Server, acknowledged: (kind: string) => number): Promise<string[]> {
  const totals: readonly [path: string, total: number][] = [
    ["/event-logs?topic=custom.bench", acknowledged("emit")],
    ["/event-logs?topic=custom.match&processed=true", acknowledged("emit with a match")],
    ["/event-logs?topic=asset.discovered", acknowledged("emit of an asset")],
    ["/runs?workflow=matched&status=completed", acknowledged("emit with a match")],
    ["/runs?workflow=short&status=completed", acknowledged("run")],
    ["/runs?workflow=slow&status=cancelled", acknowledged("cancel")],
    ["/runs?status=failed", 0],
  ];
  const found = await Promise.all(
    totals.map(async ([path, total]) => {
      const { pagination } = await server.get<{ pagination: { total: number } }>(`${path}&limit=1`);
      return pagination.total === total ? [] : [`${path} counts ${pagination.total}, not ${total}`];
    }),
  );
  return found.flat();
}

function answersOf({ kinds }: LoadReport, kind: string): number {
  const { answers, errors } = kinds[kind] ?? { answers: 0, errors: 0 };
  return answers - errors;
}

/** Growth of the median of open files from the first quarter to the last. */
function growthOfFiles(samples: readonly Sample[]): number {
  const quarter = Math.ceil(samples.length / 4);
  const files = (part: readonly Sample[]): number => median(part.map((sample) => sample.files));
  return files(samples.slice(-quarter)) - files(samples.slice(0, quarter));
}

function eachMinute(samples: readonly Sample[]): Sample[] {
  return samples.filter(({ minute }, at) => Math.floor(minute) > Math.floor(samples[at - 1]?.minute ?? -1));
}
