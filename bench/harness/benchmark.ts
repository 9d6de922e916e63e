import { execFileSync } from "node:child_process";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cleanUp, cleanUpOnExit } from "./cleanup.ts";
import { busyCores } from "./machine.ts";
import { rounded, roundedAll } from "./numbers.ts";

const BUILD_BUNDLE = fileURLToPath(new URL("../../localstack/bundle/prepare.js", import.meta.url));

/** One thing that was measured. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** What must be reached, in the same unit; absent where the figure is only told. */
  readonly target?: number;
  /** Where more is better. */
  readonly atLeast?: true;
  /** What the peer takes for this one, as text. */
  readonly peer?: string;
}

export interface Measured {
  /** The one that the benchmark is about comes first. */
  readonly figures: readonly [Figure, ...Figure[]];
  /** What the same machine takes for the bare work, measured in the same run, by name and unit. */
  readonly baseline: Readonly<Record<string, number>>;
  readonly details?: Readonly<Record<string, unknown>>;
  /** What of the work was not done, where the figures are worth to be told all the same: then it fails. */
  readonly faults?: readonly string[];
}

export interface BenchOptions {
  /** Once and small, to see that it works: the figures mean little. */
  readonly brief: boolean;
  /** How long the soak goes on; undefined where it was not said. */
  readonly minutes: number | undefined;
}

export interface Benchmark {
  readonly name: string;
  /** A short sentence for tables. */
  readonly what: string;
  /** The measured peer's figure, as text. */
  readonly peer: string;
  /** Throws where it cannot be measured, or where what was measured did not do its work. */
  measure(options: BenchOptions): Promise<Measured>;
}

/** A figure with whether its target was met. */
export type JudgedFigure = Omit<Figure, "atLeast"> & { readonly met?: boolean };

/** The line of JSON that a benchmark prints. `value`, `unit` and `target` are its first figure's. */
export interface Result {
  readonly name: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly target: number | undefined;
  readonly peer: string;
  readonly baseline: Readonly<Record<string, number>>;
  /** Whether every figure that has a target met it. */
  readonly met: boolean;
  readonly figures: readonly JudgedFigure[];
  readonly brief: boolean;
  /** Of the machine before it began: its load, and how many of its cores were busy in the second before. */
  readonly load: number;
  readonly busy_cores: number;
  /** ISO 8601. */
  readonly at: string;
  readonly node: string;
  readonly [detail: string]: unknown;
}

/** Judges what will be shown: the rounded value. */
export function judge(figure: Figure): JudgedFigure {
  const { atLeast, ...shown } = figure;
  const value = rounded(figure.value);
  if (figure.target === undefined) return { ...shown, value };
  return { ...shown, value, met: atLeast ? value >= figure.target : value <= figure.target };
}

/**
 * Runs a benchmark as a program: one line of JSON on standard output and exit code 0, whatever the figures;
 * exit code 1 and the reason on standard error where it could not be measured, or where work was not done.
 */
export async function runBenchmark(benchmark: Benchmark): Promise<void> {
  cleanUpOnExit();
  const { values } = parseArgs({
    options: { brief: { type: "boolean", default: false }, minutes: { type: "string" } },
  });
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (minutes !== undefined && !(minutes > 0)) throw new Error("--minutes must be a number above 0");
  // A server would build it at its start, within the measurement.
  execFileSync(process.execPath, [BUILD_BUNDLE]);
  const load = rounded(loadavg()[0] ?? 0);
  const busy = rounded(await busyCores());
  const at = new Date().toISOString();
  try {
    const {
      figures,
      baseline,
      details,
      faults = [],
    } = await benchmark.measure({ brief: values.brief, minutes });
    const judged = figures.map(judge);
    const { value, unit, target } = judged[0] ?? { value: 0, unit: "", target: undefined };
    const { name, what, peer } = benchmark;
    const result: Result = {
      name,
      what,
      value,
      unit,
      target,
      peer,
      baseline: roundedAll(baseline) as Result["baseline"],
      met: judged.every(({ met }) => met !== false),
      figures: judged,
      ...(roundedAll(details) as Measured["details"]),
      brief: values.brief,
      load,
      busy_cores: busy,
      at,
      node: process.version,
    };
    process.stdout.write(`${JSON.stringify(result)}\n`);
    if (faults.length > 0) throw new Error(faults.join("; "));
  } catch (error) {
    process.stderr.write(`${benchmark.name}: ${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = 1;
  } finally {
    await cleanUp();
  }
}
