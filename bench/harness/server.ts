import { startTestServer, type TestServer, type TestServerOptions } from "../../lib/testing/test-server.ts";
import { addCleanup, createTemporaryFolder } from "./cleanup.ts";
import { startCommand } from "./start.ts";

/** A server started like a user's, on its own data folder unless one is given; killed at the end. */
export interface Server extends TestServer {
  readonly port: number;
}

/** Folder for CPU profiles of servers; without it none are written. */
const PROFILES = process.env.WEFT_BENCH_PROFILES;

export async function startServer(options: TestServerOptions = {}): Promise<Server> {
  const [program = "", ...args] = options.program ?? startCommand();
  const profiling = PROFILES === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${PROFILES}`];
  const dataDir = options.dataDir ?? createTemporaryFolder("data");
  const weft = await startTestServer({ ...options, program: [program, ...profiling, ...args], dataDir });
  const server = { ...weft, port: Number(new URL(weft.url).port) };
  if (PROFILES === undefined) {
    // The data folder is removed afterwards, so the server must not write any more.
    addCleanup(() => weft.kill());
    return server;
  }
  // Node writes the profile only on a normal exit.
  const stop = async (): Promise<void> => void (await weft.stop());
  addCleanup(stop);
  return { ...server, kill: stop };
}

/** Starts a run and returns its duration from its record, milliseconds. Throws if it does not complete. */
export async function runMs(server: Server, module: string): Promise<{ runId: string; ms: number }> {
  const run = await server.run({ module });
  if (run.status !== "completed") throw new Error(`a run of ${module} ${run.status}: ${run.error_message}`);
  const ms = Date.parse(run.completed_at ?? "") - Date.parse(run.started_at ?? "");
  return { runId: run.run_id, ms };
}
