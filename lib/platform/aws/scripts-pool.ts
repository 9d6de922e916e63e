/** The threads that evaluate scripts in a function of Lambda: a bundle of its own, beside the function's. */
import { runInPool } from "../scripts/run-in-pool.ts";
import type { Exec } from "../scripts/script-job.ts";
import { ScriptPool } from "../scripts/script-pool.ts";
import type { Scripts } from "../scripts.ts";
import type { BundledScripts } from "./scripts.ts";

/** A function executes one step at a time: more threads help only if its scripts run in parallel. */
const FEWEST_THREADS = 1;
/** Each thread may use a VM (64 MiB) and jq (256 MiB): two fit into a function's memory of 1,024 MB. */
const MOST_THREADS = 2;
/** The next step probably belongs to another run, and creating a VM takes a few milliseconds. */
const KEPT_GUESTS = 2;

const noCommands: Exec = async () => ({ stdout: "", failure: "commands require a worker" });

/** Throws if the engine cannot be read. `run` rejects with PlatformFault `unavailable` if no thread starts. */
export async function openScripts({ folder, functionsModule }: BundledScripts): Promise<Scripts> {
  const pool = await ScriptPool.create({
    worker: new URL("script-worker.mjs", folder),
    engine: new URL("quickjs.wasm", folder),
    functionsModule,
    exec: noCommands,
    execGraceMs: 0,
    fewestThreads: FEWEST_THREADS,
    mostThreads: MOST_THREADS,
    keptGuests: KEPT_GUESTS,
  });
  return { run: (request) => runInPool(pool, request) };
}
