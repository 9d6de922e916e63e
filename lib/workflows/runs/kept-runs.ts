import type { Ports } from "../../platform/ports.ts";
import type { Program } from "../engine/program.ts";
import type { Definitions } from "../store/store.ts";
import { programOf } from "./running-steps.ts";
import { isUnfinished, type StoredRun } from "./table.ts";

/** Number of runs that are kept: those that changed last. */
const KEPT_MAX = 200;
/** Larger runs are read again: with these limits the kept ones use some 10 MB at most. */
const FRAMES_MAX = 100;
const PARAMS_CHARS_MAX = 16 * 1024;

const kept = new WeakMap<Ports["tables"], Map<string, StoredRun>>();
const programs = new WeakMap<StoredRun["modules"], Promise<Program>>();

type KeptDeps = Pick<Ports, "tables" | "outbox">;

/**
 * Keeps a run as this process has just committed it. The next decision about it then reads nothing. Not if it is large
 * or other processes change runs, too.
 */
export function keepRun({ tables, outbox }: KeptDeps, run: StoredRun): void {
  if (outbox.atomic !== true) return;
  const runs = kept.get(tables) ?? new Map<string, StoredRun>();
  kept.set(tables, runs);
  runs.delete(run.run_id);
  if (!isUnfinished(run) || !isSmall(run)) return;
  runs.set(run.run_id, run);
  const [oldest] = runs.keys();
  if (runs.size > KEPT_MAX && oldest !== undefined) runs.delete(oldest);
}

function isSmall({ state, params }: StoredRun): boolean {
  if (Object.keys(state.frames).length > FRAMES_MAX) return false;
  let chars = 0;
  for (const [name, value] of Object.entries(params)) chars += name.length + value.length;
  return chars <= PARAMS_CHARS_MAX;
}

/** Forgets all kept runs, to free memory. */
export function forgetKeptRuns({ tables }: Pick<Ports, "tables">): void {
  kept.delete(tables);
}

/**
 * Takes a kept run. It may have changed since, so what follows from it must be committed on the condition of its
 * version. A run without entries for an input must be read.
 */
export function takeKeptRun({ tables }: KeptDeps, runId: string): StoredRun | undefined {
  const runs = kept.get(tables);
  const run = runs?.get(runId);
  runs?.delete(runId);
  return run;
}

/** The program of a run, which is built once for each time that the run is read. */
export function keptProgramOf(deps: { readonly definitions: Definitions }, run: StoredRun): Promise<Program> {
  const known = programs.get(run.modules);
  if (known !== undefined) return known;
  const program = programOf(deps, run);
  programs.set(run.modules, program);
  program.catch(() => programs.delete(run.modules));
  return program;
}
