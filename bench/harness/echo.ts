import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { addCleanup } from "./cleanup.ts";
import { seconds, sendLoad } from "./load.ts";
import type { LoadPlan, RequestKind } from "./load-plan.ts";
import { cpuMs } from "./processes.ts";

const SERVER = fileURLToPath(new URL("./echo-server.ts", import.meta.url));
/** Requests before the measurement, to warm up client and server. */
const WARM_UP_REQUESTS = 2_000;

export interface Echo {
  readonly perSecond: number;
  readonly cpuUs: number;
  readonly p50: number;
  readonly p99: number;
}

const GET: RequestKind = { name: "get", method: "GET", path: "/" };

/**
 * Measures a load, GET over one connection by default, against a bare node:http server that echoes JSON, in a separate
 * process.
 */
export async function measureEcho({
  connections = 1,
  kinds = [GET],
  warmUp = WARM_UP_REQUESTS,
  ...length
}: Partial<Pick<LoadPlan, "connections" | "kinds">> &
  Pick<LoadPlan, "seconds" | "count"> & { readonly warmUp?: number }): Promise<Echo> {
  const child = fork(SERVER);
  addCleanup(() => child.kill("SIGKILL"));
  const port = await new Promise<number>((resolve) => child.once("message", (one) => resolve(Number(one))));
  await sendLoad({ port, connections, kinds, count: warmUp });
  const before = cpuMs(child.pid ?? 0);
  const report = await sendLoad({ port, connections, kinds, ...length });
  const cpuUs = ((cpuMs(child.pid ?? 0) - before) * 1000) / report.answers;
  child.kill("SIGKILL");
  const [kind] = Object.values(report.kinds);
  return {
    perSecond: report.answers / seconds(report),
    cpuUs,
    p50: kind?.p50 ?? Number.NaN,
    p99: kind?.p99 ?? Number.NaN,
  };
}
