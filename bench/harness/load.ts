import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { addCleanup } from "./cleanup.ts";
import type { LoadPlan, LoadReport, RecentLoad } from "./load-plan.ts";

const CHILD = fileURLToPath(new URL("./load-child.ts", import.meta.url));

/** A running load. */
export interface RunningLoad {
  /** Resolves at the end. Rejects if a connection breaks. */
  readonly report: Promise<LoadReport>;
  /** Statistics since the previous call. Rejects if the load has ended or failed. */
  recent(): Promise<RecentLoad>;
  /** Stops sending. Resolves with the report after all pending responses. */
  stop(): Promise<LoadReport>;
}

/** Starts a child process that sends the requests of a plan. */
export function startLoad(plan: LoadPlan): RunningLoad {
  const child: ChildProcess = fork(CHILD, { serialization: "advanced" });
  addCleanup(() => child.kill("SIGKILL"));
  const { promise, resolve, reject } = Promise.withResolvers<LoadReport>();
  const pending: PromiseWithResolvers<RecentLoad>[] = [];
  const end = (error: Error): void => {
    reject(error);
    for (const { reject: refuse } of pending.splice(0)) refuse(error);
  };
  child.on("message", (message: { report?: LoadReport; recent?: RecentLoad; fault?: string }) => {
    if (message.recent !== undefined) pending.shift()?.resolve(message.recent);
    else if (message.report !== undefined) resolve(message.report);
    else end(new Error(`the load broke off: ${message.fault}`));
  });
  child.on("error", end);
  child.on("exit", (code) => end(new Error(`the load's process ended with ${code}`)));
  child.send(plan);
  return {
    report: promise,
    recent: () => {
      const answer = Promise.withResolvers<RecentLoad>();
      pending.push(answer);
      child.send("recent");
      return answer.promise;
    },
    stop: () => {
      child.send("stop");
      return promise;
    },
  };
}

/** Sends the requests of a plan from a child process. Rejects if a response is unexpected. */
export async function sendLoad(plan: LoadPlan): Promise<LoadReport> {
  return expectNoErrors(await startLoad(plan).report);
}

/** Throws with the first unexpected responses, if any. */
export function expectNoErrors(report: LoadReport): LoadReport {
  if (report.errors > 0)
    throw new Error(`${report.errors} of ${report.answers} answers unexpected: ${report.samples.join("; ")}`);
  return report;
}

export const seconds = ({ startedAt, endedAt }: LoadReport): number => (endedAt - startedAt) / 1000;
