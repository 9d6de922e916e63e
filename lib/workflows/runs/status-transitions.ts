import type { Ports } from "../../platform/ports.ts";
import { isTerminal, type RunStatus } from "../engine/history.ts";
import { runKey, runsTable } from "./table.ts";

/** Whether a run has ended or was deleted. */
export async function isRunFinished({ tables }: Pick<Ports, "tables">, runId: string): Promise<boolean> {
  const run = await tables.get(runsTable, runKey(runId));
  return run === undefined || isTerminal(run.status);
}

/** Statuses that may follow each status. Terminal statuses are final. */
export const TRANSITIONS: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  pending: ["running", "failed", "cancelled"],
  running: ["completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: [],
};

/** Statuses of a run that allow each action of a caller. Reference 1.4. */
export const ACTION_STATUSES = {
  start: ["pending"],
  cancel: ["pending", "running"],
  resume: ["failed"],
  replay: ["completed", "failed", "cancelled"],
  duplicate: ["pending", "running", "completed", "failed", "cancelled"],
  rerun: ["pending", "running", "completed", "failed", "cancelled"],
} as const satisfies Readonly<Record<string, readonly RunStatus[]>>;

export type RunAction = keyof typeof ACTION_STATUSES;

export const isDirectTransition = (from: RunStatus, to: RunStatus): boolean =>
  from === to || TRANSITIONS[from].includes(to);

/** One input may cause several transitions: a run without steps completes as soon as it starts. */
export const canTransition = (from: RunStatus, to: RunStatus): boolean =>
  isDirectTransition(from, to) || TRANSITIONS[from].some((next) => canTransition(next, to));

export const isActionAllowed = (action: RunAction, status: RunStatus): boolean =>
  (ACTION_STATUSES[action] as readonly RunStatus[]).includes(status);
