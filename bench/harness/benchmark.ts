import { execFileSync } from "node:child_process";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cleanUp, cleanUpOnExit } from "./cleanup.ts";
import { busyCores } from "./machine.ts";
import { roundNumber, roundNumbers } from "./numbers.ts";

const BUILD_BUNDLE = fileURLToPath(new URL("../../localstack/bundle/prepare.js", import.meta.url));

/** One measured value. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The target, in the same unit; absent for figures that are only reported. */
  readonly target?: number;
  /** Set if the target is a minimum. */
  readonly atLeast?: true;
  /** The peer's value, as text. */
  readonly peer?: string;
}

export interface Measurement {
  /** Measured figures, the main one first. */
  readonly figures: readonly [Figure, ...Figure[]];
  /** The cost of the bare work on the same machine, measured in the same run, by name with unit. */
  readonly baseline: Readonly<Record<string, number>>;
  readonly details?: Readonly<Record<string, unknown>>;
  /** Work that was not done. The figures are reported nevertheless, and the benchmark fails. */
  readonly faults?: readonly string[];
}

export interface BenchOptions {
  /** One small round that shows that the benchmark works; its figures are not representative. */
  readonly brief: boolean;
  /** Duration of the soak; `undefined` for the default. */
  readonly minutes: number | undefined;
}

export interface Benchmark {
  readonly name: string;
  /** A short description for tables. */
  readonly what: string;
  /** The measured peer's figure, as text. */
  readonly peer: string;
  /** Throws if the measurement fails or the measured work was not done. */
  measure(options: BenchOptions): Promise<Measurement>;
}

/** A figure and whether it meets its target. */
export type JudgedFigure = Omit<Figure, "atLeast"> & { readonly met?: boolean };

/** The JSON line that a benchmark prints. `value`, `unit` and `target` are those of the first figure. */
export interface BenchmarkResult {
  readonly name: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly target: number | undefined;
  readonly peer: string;
  readonly baseline: Readonly<Record<string, number>>;
  /** True if every figure with a target meets it. */
  readonly met: boolean;
  readonly figures: readonly JudgedFigure[];
  readonly brief: boolean;
  /** The machine before the start: its load average, and the number of busy cores in the preceding second. */
  readonly load: number;
  readonly busy_cores: number;
  /** Time of the measurement, ISO 8601. */
  readonly at: string;
  readonly node: string;
  readonly [detail: string]: unknown;
}

/** Rounds the value and the target, and compares them. */
export function judgeFigures(figure: Figure): JudgedFigure {
  const { atLeast, ...shown } = figure;
  const value = roundNumber(figure.value);
  if (figure.target === undefined) return { ...shown, value };
  const target = roundNumber(figure.target);
  return { ...shown, value, target, met: atLeast ? value >= target : value <= target };
}

/**
 * Runs a benchmark as a program. Prints one line of JSON to standard output and exits with 0, whatever the figures.
 * Exits with 1 and the reason on standard error if the measurement failed or work was not done.
 */
export async function runBenchmark(benchmark: Benchmark): Promise<void> {
  cleanUpOnExit();
  const { values } = parseArgs({
    options: { brief: { type: "boolean", default: false }, minutes: { type: "string" } },
  });
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (minutes !== undefined && !(minutes > 0)) throw new Error("--minutes must be a number above 0");
  // Otherwise the server builds the bundle at its start, during the measurement.
  execFileSync(process.execPath, [BUILD_BUNDLE]);
  const load = roundNumber(loadavg()[0] ?? 0);
  const busy = roundNumber(await busyCores());
  const at = new Date().toISOString();
  try {
    const {
      figures,
      baseline,
      details,
      faults = [],
    } = await benchmark.measure({ brief: values.brief, minutes });
    const judged = figures.map(judgeFigures);
    const { value, unit, target } = judged[0] ?? { value: 0, unit: "", target: undefined };
    const { name, what, peer } = benchmark;
    const result: BenchmarkResult = {
      name,
      what,
      value,
      unit,
      target,
      peer,
      baseline: roundNumbers(baseline) as BenchmarkResult["baseline"],
      met: judged.every(({ met }) => met !== false),
      figures: judged,
      ...(roundNumbers(details) as Measurement["details"]),
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
