import type { Exec } from "../../scripts/script-job.ts";
import { ScriptPool } from "../../scripts/script-pool.ts";
import { type CollectedOutput, collectOutput } from "./collect.ts";
import { END_GRACE_MS, type Processes } from "./processes.ts";

const FEWEST_THREADS = 2;
const MOST_THREADS = 8;
/** VMs that each thread keeps, some 1.5 MB each; only active runs return to theirs. */
const KEPT_GUESTS = 4;
/** Maximum output of `exec`. */
const EXEC_OUTPUT_BYTES = 10 * 1024 * 1024;

/** The threads of this process, whose `exec` starts processes here. Throws if the engine cannot be read. */
export function openScriptPool(functionsModule: URL, processes: Processes): Promise<ScriptPool> {
  return ScriptPool.create({
    worker: new URL("../../scripts/script-worker.ts", import.meta.url),
    engine: new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm")),
    functionsModule,
    exec: execBy(processes),
    execGraceMs: END_GRACE_MS,
    fewestThreads: FEWEST_THREADS,
    mostThreads: MOST_THREADS,
    keptGuests: KEPT_GUESTS,
  });
}

function execBy(processes: Processes): Exec {
  return async ({ command, cwd, env, timeoutMs }, token, signal) => {
    const spec = { program: "bash", args: ["-c", command], cwd, env, token, timeoutMs, signal };
    try {
      const end = await collectOutput(processes, spec, EXEC_OUTPUT_BYTES);
      const failure = failureOf(end);
      return { stdout: end.stdout, ...(failure === undefined ? {} : { failure }) };
    } catch (error) {
      return { stdout: "", failure: error instanceof Error ? error.message : String(error) };
    }
  };
}

function failureOf(end: CollectedOutput): string | undefined {
  if (end.overflow) return `it wrote more than ${EXEC_OUTPUT_BYTES / 1024 / 1024} MiB`;
  if (end.timedOut) return "it exceeded the time limit of the script";
  if (end.aborted) return "it was cancelled";
  if (end.exitCode === 0) return undefined;
  const how = end.exitCode === null ? `signal ${end.signal}` : `exit code ${end.exitCode}`;
  const said = end.stderr.trim();
  return said === "" ? how : `${how}: ${said}`;
}
