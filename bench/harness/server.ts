import { startWeft, type Weft, type WeftOptions } from "../../localstack/e2e/weft.ts";
import { atEnd, temporaryFolder } from "./cleanup.ts";
import { startCommand } from "./start.ts";

/** A server as a user starts it, on a data folder of its own unless one is given; gone at the end. */
export interface Server extends Weft {
  readonly port: number;
}

export async function startServer(options: WeftOptions = {}): Promise<Server> {
  const weft = await startWeft({
    program: startCommand(),
    ...options,
    dataDir: options.dataDir ?? temporaryFolder("data"),
  });
  atEnd(() => weft.child.kill("SIGKILL"));
  return { ...weft, port: Number(new URL(weft.url).port) };
}

/** How long a run took by its own record, milliseconds. Throws where it did not complete. */
export async function runMs(server: Server, module: string): Promise<{ runId: string; ms: number }> {
  const run = await server.run({ module });
  if (run.status !== "completed") throw new Error(`a run of ${module} ${run.status}: ${run.error_message}`);
  const ms = Date.parse(run.completed_at ?? "") - Date.parse(run.started_at ?? "");
  return { runId: run.run_id, ms };
}
