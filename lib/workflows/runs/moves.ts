import type { RunStatus } from "../engine/history.ts";

/** Where a run may go from where it is. What is over stays as it is: `cancelled` above all. */
export const MOVES: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  pending: ["running", "failed", "cancelled"],
  running: ["completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: [],
};

/** What callers may do to a run, by where it is. Reference 1.4. */
export const ACTIONS = {
  start: ["pending"],
  cancel: ["pending", "running"],
  resume: ["failed"],
  duplicate: ["pending", "running", "completed", "failed", "cancelled"],
  rerun: ["pending", "running", "completed", "failed", "cancelled"],
} as const satisfies Readonly<Record<string, readonly RunStatus[]>>;

export type RunAction = keyof typeof ACTIONS;

export const mayMove = (from: RunStatus, to: RunStatus): boolean => from === to || MOVES[from].includes(to);

/** One input may take a run several moves on: what has nothing to do is over as soon as it starts. */
export const mayReach = (from: RunStatus, to: RunStatus): boolean =>
  mayMove(from, to) || MOVES[from].some((next) => mayReach(next, to));

export const mayDo = (action: RunAction, status: RunStatus): boolean =>
  (ACTIONS[action] as readonly RunStatus[]).includes(status);
