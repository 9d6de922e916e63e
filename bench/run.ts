import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { BenchmarkResult } from "./harness/benchmark.ts";
import { untilIdle } from "./harness/machine.ts";
import { STEPS_TABLE_BENCHMARKS, stepsTable } from "./harness/steps-table.ts";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const RESULTS = `${FOLDER}results.json`;
/** The name of the benchmarks of a step on one machine: their figures are also printed as a table. */
const STEPS_TABLE = "steps-table";
/** The benchmark that takes half an hour. It runs only if named, or with `--brief`. */
const ON_REQUEST = "soak";
/** The benchmark that needs a browser and the whole processor: it does not run with `--brief` unless named. */
const NOT_BRIEF = "web";
const IDLE_MAX_MS = 10 * 60 * 1000;
/** Limit of a brief benchmark, which takes seconds unless it hangs. */
const BRIEF_MAX_MS = 5 * 60 * 1000;
/** The maximum delay of a timer. */
const NO_LIMIT_MS = 2 ** 31 - 1;
/** Time for a stopped benchmark to remove its files. */
const END_MAX_MS = 10 * 1000;

/** Names of all benchmarks: the files of this folder except `run.ts` and tests. */
export function benchmarkNames(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== "run.ts")
    .map((name) => name.slice(0, -".ts".length))
    .sort();
}

/** Merges results by name, sorted; new results replace earlier ones. */
export function mergeResults(
  before: readonly BenchmarkResult[],
  now: readonly BenchmarkResult[],
): BenchmarkResult[] {
  const byName = new Map([...before, ...now].map((result) => [result.name, result]));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Removes the details of a result, which the tables do not contain. */
export function withoutDetails({
  name,
  what,
  value,
  unit,
  target,
  met,
  ...result
}: BenchmarkResult): BenchmarkResult {
  const { peer, baseline, figures, brief, load, busy_cores, at, node } = result;
  return { name, what, value, unit, target, met, peer, baseline, figures, brief, load, busy_cores, at, node };
}

/**
 * Runs a benchmark in a child process, prints its line, and returns its result; `undefined` if it failed or timed out.
 * Ends all processes that it started and removes its files.
 */
async function run(
  name: string,
  args: readonly string[],
  stopped: AbortSignal,
  maxMs: number,
): Promise<BenchmarkResult | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "weft-bench-"));
  // A separate process group, so that the remaining processes of a failed benchmark can be killed.
  const child = spawn(process.execPath, [`${FOLDER}${name}.ts`, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
    env: { ...process.env, TMPDIR: folder },
  });
  const group = -(child.pid ?? 0);
  const end = (): void => {
    child.kill("SIGTERM");
    setTimeout(() => killAll(group), END_MAX_MS).unref();
  };
  const limit = setTimeout(() => {
    console.error(`${name} is not done after ${maxMs / 1000} seconds`);
    end();
  }, maxMs);
  stopped.addEventListener("abort", end, { once: true });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  clearTimeout(limit);
  stopped.removeEventListener("abort", end);
  killAll(group);
  await finished(child.stdout);
  // Steps that are ending may still write files.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  process.stdout.write(out);
  return code === 0 ? (JSON.parse(out) as BenchmarkResult) : undefined;
}

function killAll(group: number): void {
  try {
    process.kill(group, "SIGKILL");
  } catch {
    // The group has no processes any more.
  }
}

/**
 * Returns the exit code: 0 if all benchmarks were measured, whatever the figures; 1 if one failed; 2 for an unknown
 * name. `steps-table` names the benchmarks of its table, which is printed after their results. `--save` stores the
 * results for the tables; `--idle` waits before each benchmark until the machine is idle.
 */
async function main(): Promise<0 | 1 | 2> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      brief: { type: "boolean", default: false },
      minutes: { type: "string" },
      save: { type: "boolean", default: false },
      idle: { type: "boolean", default: false },
    },
  });
  const all = benchmarkNames();
  const named = [
    ...new Set(positionals.flatMap((name) => (name === STEPS_TABLE ? STEPS_TABLE_BENCHMARKS : [name]))),
  ];
  const unknown = named.filter((name) => !all.includes(name));
  if (unknown.length > 0 || (values.brief && values.save)) {
    const wrong =
      unknown.length > 0 ? `no such benchmark: ${unknown.join(", ")}` : "brief figures are not saved";
    console.error(`${wrong}. There are: ${[...all, STEPS_TABLE].join(", ")}`);
    return 2;
  }
  const usual = all.filter((name) => name !== (values.brief ? NOT_BRIEF : ON_REQUEST));
  const args = [
    ...(values.brief ? ["--brief"] : []),
    ...(values.minutes === undefined ? [] : ["--minutes", values.minutes]),
  ];
  const stopped = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stopped.abort());
  const maxMs = values.brief ? BRIEF_MAX_MS : NO_LIMIT_MS;
  const results: BenchmarkResult[] = [];
  const failed: string[] = [];
  const names = (named.length > 0 ? named : usual).values();
  const runEach = async (): Promise<void> => {
    for (const name of names) {
      if (values.idle) await untilIdle(IDLE_MAX_MS);
      console.error(`${name} ...`);
      const result = await run(name, args, stopped.signal, maxMs);
      if (stopped.signal.aborted) return;
      if (result === undefined) failed.push(name);
      else results.push(result);
    }
  };
  // Brief figures mean nothing, so two benchmarks may run at the same time.
  await Promise.all(values.brief ? [runEach(), runEach()] : [runEach()]);
  if (stopped.signal.aborted) return 1;
  if (failed.length > 0) console.error(`could not be measured: ${failed.join(", ")}`);
  if (positionals.includes(STEPS_TABLE)) console.log(stepsTable(results));
  if (values.save) {
    const before = existsSync(RESULTS)
      ? (JSON.parse(readFileSync(RESULTS, "utf8")) as BenchmarkResult[])
      : [];
    writeFileSync(RESULTS, `${JSON.stringify(mergeResults(before, results.map(withoutDetails)), null, 2)}\n`);
  }
  return failed.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
