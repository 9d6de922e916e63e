/** Deadline, environment and process token of an attempt. */

import { StepFailedError } from "../engine/step-failure.ts";
import type { Attempt } from "./context.ts";

/** Maximum duration of any work of a step, milliseconds: every wait is bounded. */
const WORK_MS = 24 * 60 * 60 * 1000;

/**
 * Returns the remaining time of the step's own timeout, whatever its length; without one, at most `otherwise`.
 * Milliseconds. Throws StepFailedError.
 */
export function timeFor(attempt: Attempt, otherwise: number): number {
  const own = attempt.deadline !== undefined && attempt.step.timeout !== undefined;
  return remaining(attempt, own ? WORK_MS : otherwise);
}

/** Returns the milliseconds until the step's deadline, at most `otherwise`. Throws StepFailedError after the deadline. */
export function remaining(attempt: Attempt, otherwise: number): number {
  if (attempt.deadline === undefined) return otherwise;
  const left = attempt.deadline - attempt.deps.clock.now();
  if (left <= 0) throw new StepFailedError("timed out");
  return Math.min(left, otherwise);
}

/** Returns the environment variables of a step's commands and functions. */
export function stepEnvironment(attempt: Attempt): Record<string, string> {
  return {
    WEFT_RUN_ID: attempt.run.run_id,
    WEFT_WORKFLOW: attempt.run.workflow_name,
    WEFT_STEP: attempt.request.key,
    WEFT_ATTEMPT: String(attempt.number),
    WEFT_HOP: attempt.run.hop_token ?? "",
  };
}

/** Returns the environment as the step's row shows it: the signed token of the hop is a permission. */
export function shownEnvironment(
  attempt: Attempt,
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  return { ...stepEnvironment(attempt), WEFT_HOP: "***", ...attempt.shown.environment, ...variables };
}

/** Identifies the attempt in the environment of its processes, so that leftover processes can be found. */
export function stepToken(attempt: Attempt): string {
  return `${attempt.run.run_id}/${attempt.request.key}/${attempt.number}`;
}
