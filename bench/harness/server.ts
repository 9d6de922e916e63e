import { startTestServer, type TestServer, type TestServerOptions } from "../../lib/testing/test-server.ts";
import { atEnd, temporaryFolder } from "./cleanup.ts";
import { startCommand } from "./start.ts";

/** A server as a user starts it, on a data folder of its own unless one is given; gone at the end. */
export interface Server extends TestServer {
  readonly port: number;
}

/** Where profiles of servers are put; none are made without it. */
const PROFILES = process.env.WEFT_BENCH_PROFILES;

export async function startServer(options: TestServerOptions = {}): Promise<Server> {
  const [program = "", ...args] = options.program ?? startCommand();
  const profiling = PROFILES === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${PROFILES}`];
  const dataDir = options.dataDir ?? temporaryFolder("data");
  const weft = await startTestServer({ ...options, program: [program, ...profiling, ...args], dataDir });
  const server = { ...weft, port: Number(new URL(weft.url).port) };
  if (PROFILES === undefined) {
    // Its data folder is removed after that: nothing may write there any more.
    atEnd(() => weft.kill());
    return server;
  }
  // A profile is written at the end, if it comes by itself.
  const stop = async (): Promise<void> => void (await weft.stop());
  atEnd(stop);
  return { ...server, kill: stop };
}

/** How long a run took by its own record, milliseconds. Throws where it did not complete. */
export async function runMs(server: Server, module: string): Promise<{ runId: string; ms: number }> {
  const run = await server.run({ module });
  if (run.status !== "completed") throw new Error(`a run of ${module} ${run.status}: ${run.error_message}`);
  const ms = Date.parse(run.completed_at ?? "") - Date.parse(run.started_at ?? "");
  return { runId: run.run_id, ms };
}
