import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { atEnd } from "./cleanup.ts";
import { seconds, sendLoad } from "./load.ts";
import type { LoadPlan } from "./load-plan.ts";
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

/** Measures a load against a bare node:http server that echoes JSON, in a separate process. */
export async function measureEcho(
  plan: Pick<LoadPlan, "connections" | "kinds" | "seconds" | "count"> & { readonly warmUp?: number },
): Promise<Echo> {
  const child = fork(SERVER);
  atEnd(() => child.kill("SIGKILL"));
  const port = await new Promise<number>((resolve) => child.once("message", (one) => resolve(Number(one))));
  const { connections, kinds, warmUp = WARM_UP_REQUESTS } = plan;
  await sendLoad({ port, connections, kinds, count: warmUp });
  const before = cpuMs(child.pid ?? 0);
  const report = await sendLoad({ ...plan, port });
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
