import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { atEnd } from "./cleanup.ts";
import type { LoadPlan, LoadReport, RecentLoad } from "./load-plan.ts";

const CHILD = fileURLToPath(new URL("./load-child.ts", import.meta.url));

/** Load that goes on. */
export interface RunningLoad {
  /** Rejects where a connection broke. */
  readonly report: Promise<LoadReport>;
  /** What it did since this was last asked; rejects where it is over or broke off. */
  recent(): Promise<RecentLoad>;
  /** No more requests; the report follows when those under way are answered. */
  stop(): Promise<LoadReport>;
}

/** Starts a process of its own that sends requests as the plan says. */
export function startLoad(plan: LoadPlan): RunningLoad {
  const child: ChildProcess = fork(CHILD, { serialization: "advanced" });
  atEnd(() => child.kill("SIGKILL"));
  const { promise, resolve, reject } = Promise.withResolvers<LoadReport>();
  const asked: PromiseWithResolvers<RecentLoad>[] = [];
  const end = (error: Error): void => {
    reject(error);
    for (const { reject: refuse } of asked.splice(0)) refuse(error);
  };
  child.on("message", (message: { report?: LoadReport; recent?: RecentLoad; fault?: string }) => {
    if (message.recent !== undefined) asked.shift()?.resolve(message.recent);
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
      asked.push(answer);
      child.send("recent");
      return answer.promise;
    },
    stop: () => {
      child.send("stop");
      return promise;
    },
  };
}

/** Sends requests from a process of its own. Rejects where an answer was not the expected one. */
export async function sendLoad(plan: LoadPlan): Promise<LoadReport> {
  return expectNoErrors(await startLoad(plan).report);
}

/** Throws with the first unexpected answers where there were any. */
export function expectNoErrors(report: LoadReport): LoadReport {
  if (report.errors > 0)
    throw new Error(`${report.errors} of ${report.answers} answers unexpected: ${report.samples.join("; ")}`);
  return report;
}

export const seconds = ({ startedAt, endedAt }: LoadReport): number => (endedAt - startedAt) / 1000;
