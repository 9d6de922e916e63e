import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { atEnd } from "./cleanup.ts";
import type { LoadPlan, LoadReport } from "./load-plan.ts";

const CHILD = fileURLToPath(new URL("./load-child.ts", import.meta.url));

/** Load that goes on. */
export interface RunningLoad {
  /** Rejects where a connection broke. */
  readonly report: Promise<LoadReport>;
  /** No more requests; the report follows when those under way are answered. */
  stop(): Promise<LoadReport>;
}

/** Starts a process of its own that sends requests as the plan says. */
export function startLoad(plan: LoadPlan): RunningLoad {
  const child: ChildProcess = fork(CHILD, { serialization: "advanced" });
  atEnd(() => child.kill("SIGKILL"));
  const { promise, resolve, reject } = Promise.withResolvers<LoadReport>();
  child.on("message", (message: { report?: LoadReport; fault?: string }) => {
    if (message.report === undefined) reject(new Error(`the load broke off: ${message.fault}`));
    else resolve(message.report);
  });
  child.on("exit", (code) => reject(new Error(`the load's process ended with ${code}`)));
  child.send(plan);
  return {
    report: promise,
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
