import type { Ports } from "../../platform/ports.ts";
import { isTerminal, type RunStatus } from "../engine/history.ts";
import { runKey, runsTable } from "./table.ts";

/** Whether a run has ended, or is not there any more. */
export async function isRunFinished({ tables }: Pick<Ports, "tables">, runId: string): Promise<boolean> {
  const run = await tables.get(runsTable, runKey(runId));
  return run === undefined || isTerminal(run.status);
}

/** Where a run may go from where it is. What is over stays as it is: `cancelled` above all. */
export const TRANSITIONS: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  pending: ["running", "failed", "cancelled"],
  running: ["completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: [],
};

/** What callers may do to a run, by where it is. Reference 1.4. */
export const ACTION_STATUSES = {
  start: ["pending"],
  cancel: ["pending", "running"],
  resume: ["failed"],
  duplicate: ["pending", "running", "completed", "failed", "cancelled"],
  rerun: ["pending", "running", "completed", "failed", "cancelled"],
} as const satisfies Readonly<Record<string, readonly RunStatus[]>>;

export type RunAction = keyof typeof ACTION_STATUSES;

export const isDirectTransition = (from: RunStatus, to: RunStatus): boolean =>
  from === to || TRANSITIONS[from].includes(to);

/** One input may take a run several moves on: what has nothing to do is over as soon as it starts. */
export const canTransition = (from: RunStatus, to: RunStatus): boolean =>
  isDirectTransition(from, to) || TRANSITIONS[from].some((next) => canTransition(next, to));

export const isActionAllowed = (action: RunAction, status: RunStatus): boolean =>
  (ACTION_STATUSES[action] as readonly RunStatus[]).includes(status);
