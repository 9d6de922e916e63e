import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Result } from "./harness/benchmark.ts";
import { untilIdle } from "./harness/machine.ts";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const RESULTS = `${FOLDER}results.json`;
/** Takes half an hour: it is run where it is named, or briefly. */
const NOT_UNASKED = "soak";
const IDLE_MAX_MS = 10 * 60 * 1000;
/** A brief one takes seconds: one that takes so long hangs. */
const BRIEF_MAX_MS = 5 * 60 * 1000;
/** The longest that a timer can be. */
const NO_LIMIT_MS = 2 ** 31 - 1;
/** For one that was told to end to remove what it made. */
const END_MAX_MS = 10 * 1000;

/** Names of all benchmarks: a file here is one, unless it is this one. */
export function benchmarkNames(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== "run.ts")
    .map((name) => name.slice(0, -".ts".length))
    .sort();
}

/** Those of before, with what was measured now in their place. */
export function merged(before: readonly Result[], now: readonly Result[]): Result[] {
  const byName = new Map([...before, ...now].map((result) => [result.name, result]));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What tables are made of; the details are for whoever ran it. */
export function kept({ name, what, value, unit, target, met, ...result }: Result): Result {
  const { peer, baseline, figures, brief, load, busy_cores, at, node } = result;
  return { name, what, value, unit, target, met, peer, baseline, figures, brief, load, busy_cores, at, node };
}

/**
 * Runs one as a program of its own, shows its line, and gives what it says; undefined where it failed, or took longer
 * than it may. Nothing that it started is left.
 */
async function run(
  name: string,
  args: readonly string[],
  stopped: AbortSignal,
  maxMs: number,
): Promise<Result | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "weft-bench-"));
  // A group of its own, so that what a benchmark that broke off left behind is found.
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
  // Steps that are just being ended may still write.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  process.stdout.write(out);
  return code === 0 ? (JSON.parse(out) as Result) : undefined;
}

function killAll(group: number): void {
  try {
    process.kill(group, "SIGKILL");
  } catch {
    // All of it is gone: that is how it should be.
  }
}

/**
 * Exit code: 0 where all could be measured, whatever the figures; 1 where one could not; 2 for a name that is no
 * benchmark. `--save` keeps the results for the tables of figures; `--idle` waits before each until the
 * machine does nothing else.
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
  const unknown = positionals.filter((name) => !all.includes(name));
  if (unknown.length > 0 || (values.brief && values.save)) {
    const wrong =
      unknown.length > 0 ? `no such benchmark: ${unknown.join(", ")}` : "brief figures are not saved";
    console.error(`${wrong}. There are: ${all.join(", ")}`);
    return 2;
  }
  const usual = all.filter((name) => values.brief || name !== NOT_UNASKED);
  const args = [
    ...(values.brief ? ["--brief"] : []),
    ...(values.minutes === undefined ? [] : ["--minutes", values.minutes]),
  ];
  const stopped = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stopped.abort());
  const maxMs = values.brief ? BRIEF_MAX_MS : NO_LIMIT_MS;
  const results: Result[] = [];
  const failed: string[] = [];
  for (const name of positionals.length > 0 ? positionals : usual) {
    if (values.idle) await untilIdle(IDLE_MAX_MS);
    console.error(`${name} ...`);
    const result = await run(name, args, stopped.signal, maxMs);
    if (stopped.signal.aborted) return 1;
    if (result === undefined) failed.push(name);
    else results.push(result);
  }
  if (failed.length > 0) console.error(`could not be measured: ${failed.join(", ")}`);
  if (values.save) {
    const before = existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, "utf8")) as Result[]) : [];
    writeFileSync(RESULTS, `${JSON.stringify(merged(before, results.map(kept)), null, 2)}\n`);
  }
  return failed.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
