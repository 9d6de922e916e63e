import type { BenchmarkResult } from "./benchmark.ts";

/**
 * What the same machine needs for the bare work of a benchmark. Machines differ: figures of two days can only be
 * compared with their baselines.
 */
interface Baseline {
  /** The benchmark's name for it. */
  readonly name: string;
  readonly what: string;
  readonly unit: string;
  /** Its value next to the earlier figures. */
  readonly earlier: number;
}

const BASELINES: Readonly<Record<string, Baseline>> = {
  "bash-steps": { name: "bash_loop_ms", what: "bash in a loop", unit: "ms", earlier: 1.315 },
  "function-steps": { name: "fsync_ms", what: "fsync", unit: "ms", earlier: 0.2351 },
  effect: { name: "spawned_bash_touch_ms", what: "spawned bash", unit: "ms", earlier: 3.646 },
  emits: { name: "echo_per_second", what: "echo of HTTP", unit: "/s", earlier: 62_540 },
  foreach: { name: "xargs_bash_ms", what: "xargs", unit: "ms", earlier: 709 },
  import: { name: "sort_ms", what: "sort", unit: "ms", earlier: 434 },
  "parallel-steps": { name: "shell_s", what: "shell", unit: "s", earlier: 0.215 },
  "runs-at-once": { name: "shell_ms", what: "shell", unit: "ms", earlier: 39 },
  burst: { name: "xargs_bash_touch_s", what: "xargs", unit: "s", earlier: 1.255 },
  million: { name: "empty_folder_ms", what: "start without data", unit: "ms", earlier: 241.5 },
  lists: { name: "echo_p50_ms", what: "echo of HTTP", unit: "ms", earlier: 0.1145 },
  start: { name: "node_ms", what: "Node without code", unit: "ms", earlier: 28.54 },
};

/** A line of the table: a figure of a benchmark, its value of `EARLIER_DAY`, and the value that it must reach. */
interface TableLine {
  readonly what: string;
  readonly benchmark: string;
  /** The figure's `what`. */
  readonly figure: string;
  /** Missing if it was not measured then. */
  readonly earlier?: number;
  /** Missing if the figure must only be no worse than before. */
  readonly target?: number;
  /** Set if the target is a minimum. */
  readonly atLeast?: true;
}

/** The day of the earlier values, which were measured on an idle machine. */
const EARLIER_DAY = "2026-11-22";
/** A figure is no worse if it is at most this many times the earlier one: two measurements differ by as much. */
const NO_WORSE = 1.1;

const connectionsOf = (connections: number): string =>
  connections === 1 ? "1 connection" : `${connections} connections`;

const emitLines = (
  connections: number,
  [perSecond, perSecondTarget]: readonly [earlier: number, target: number],
  [cpuUs, cpuUsTarget]: readonly [earlier: number, target: number],
): TableLine[] => {
  const benchmark = "emits";
  const of = connectionsOf(connections);
  return [
    {
      what: `emit at ${of}, recorded`,
      benchmark,
      figure: `${of}: acknowledged`,
      earlier: perSecond,
      target: perSecondTarget,
      atLeast: true,
    },
    {
      what: `emit at ${of}, CPU`,
      benchmark,
      figure: `${of}: CPU a request until acknowledged`,
      earlier: cpuUs,
      target: cpuUsTarget,
    },
  ];
};

const LINES: readonly TableLine[] = [
  {
    what: "200 bash steps, times the loop",
    benchmark: "bash-steps",
    figure: "a step, as many times the bash loop's",
    earlier: 2.6,
    target: 1.1,
  },
  {
    what: "200 function steps, each",
    benchmark: "function-steps",
    figure: "a step after the first",
    earlier: 1.9,
    target: 0.5,
  },
  { what: "emit to effect, p50", benchmark: "effect", figure: "p50", earlier: 10, target: 5 },
  { what: "emit to effect, p99", benchmark: "effect", figure: "p99", earlier: 17, target: 10 },
  {
    what: "emit to effect: acknowledged, p50",
    benchmark: "effect",
    figure: "acknowledged, p50",
    earlier: 4.7,
    target: 1.2,
  },
  ...emitLines(1, [1_044, 2_500], [661, 250]),
  ...emitLines(16, [6_272, 9_000], [172, 100]),
  ...emitLines(64, [9_436, 12_000], [112, 80]),
  {
    what: "batch emit of 1,000",
    benchmark: "emits",
    figure: "batch emit of 1000: acknowledged",
    target: 60_000,
    atLeast: true,
  },
  {
    what: "foreach of 1,000 times `true`, 8 at once, times xargs",
    benchmark: "foreach",
    figure: "the run, as many times xargs -P8",
    earlier: 1.42,
    target: 1.05,
  },
  { what: "import of 100,000 assets", benchmark: "import", figure: "acknowledged", earlier: 12, target: 6 },
  {
    what: "20 times `sleep 0.2` in parallel",
    benchmark: "parallel-steps",
    figure: "the run",
    earlier: 0.245,
  },
  { what: "50 runs at once", benchmark: "runs-at-once", figure: "all finished", earlier: 149.1 },
  { what: "burst of 1,000: last effect", benchmark: "burst", figure: "the last effect", earlier: 3.49 },
  {
    what: "a million events: restart after kill -9",
    benchmark: "million",
    figure: "restart after kill -9 to ready",
    earlier: 233,
  },
  {
    what: "lists at 100,000, slowest p50",
    benchmark: "lists",
    figure: "the slowest of them",
    earlier: 0.8032,
  },
  { what: "start", benchmark: "start", figure: "first start, on an empty folder", earlier: 228.4 },
  {
    what: "idle memory",
    benchmark: "start",
    figure: "memory of all processes 3 s after the start, shared pages once",
    earlier: 82.05,
  },
];

/** The benchmarks whose figures the table shows. */
export const STEPS_TABLE_BENCHMARKS: readonly string[] = [
  ...new Set(LINES.map(({ benchmark }) => benchmark)),
];

/** A result as far as the table shows it. */
export type TableResult = Pick<BenchmarkResult, "name" | "at" | "busy_cores" | "baseline"> & {
  readonly figures: readonly Pick<BenchmarkResult["figures"][number], "what" | "value" | "unit">[];
};

/** The table of a step on one machine in Markdown: what results contain, next to earlier values and targets. */
export function stepsTable(results: readonly TableResult[]): string {
  const rows = LINES.map((line) => {
    const result = results.find(({ name }) => name === line.benchmark);
    const figure = result?.figures.find(({ what }) => what === line.figure);
    const target = line.target === undefined ? "no worse" : `${line.target}`;
    if (result === undefined || figure === undefined)
      return [line.what, `${line.earlier ?? "-"}`, target, "not measured", "", "", ""];
    const when = `${result.at.split("T")[0]}, ${result.busy_cores} cores busy before`;
    return [
      line.what,
      `${line.earlier ?? "-"}`,
      target,
      `${figure.value} ${figure.unit}`,
      isMet(line, figure.value) ? "yes" : "**no**",
      baselineCell(result),
      when,
    ];
  });
  const head = ["What", EARLIER_DAY, "Must reach", "Measured", "Met", "Baseline, then and now", "When"];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function baselineCell({ name, baseline }: TableResult): string {
  const bare = BASELINES[name];
  if (bare === undefined) return "";
  return `${bare.what}: ${bare.earlier}, ${baseline[bare.name] ?? "-"} ${bare.unit}`;
}

function isMet({ earlier = Number.POSITIVE_INFINITY, target, atLeast }: TableLine, value: number): boolean {
  if (target === undefined) return value <= earlier * NO_WORSE;
  return atLeast === true ? value >= target : value <= target;
}
