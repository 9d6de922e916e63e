/** What every piece of work of an attempt has: a time in which it must be done, an environment, a name. */

import { StepFailed } from "../engine/step-failure.ts";
import type { Attempt } from "./context.ts";

/** No work of one step takes longer, milliseconds: every wait has an end. */
const WORK_MS = 24 * 60 * 60 * 1000;

/** What is left of the step's own timeout, however long that is; at most `otherwise` where it has none. Throws StepFailed. */
export function timeFor(attempt: Attempt, otherwise: number): number {
  const own = attempt.deadline !== undefined && attempt.step.timeout !== undefined;
  return remaining(attempt, own ? WORK_MS : otherwise);
}

/** Milliseconds that are left until the step has to end, at most `otherwise`. Throws StepFailed when it is over. */
export function remaining(attempt: Attempt, otherwise: number): number {
  if (attempt.deadline === undefined) return otherwise;
  const left = attempt.deadline - attempt.deps.clock.now();
  if (left <= 0) throw new StepFailed("timed out");
  return Math.min(left, otherwise);
}

/** What commands and functions of a step find in their environment. */
export function stepEnvironment(attempt: Attempt): Record<string, string> {
  return {
    WEFT_RUN_ID: attempt.run.run_id,
    WEFT_WORKFLOW: attempt.run.workflow_name,
    WEFT_STEP: attempt.request.key,
    WEFT_ATTEMPT: String(attempt.number),
    WEFT_HOP: attempt.run.hop_token ?? "",
  };
}

/** Names the attempt in the environment of its processes, so that what it leaves behind can be found. */
export function stepToken(attempt: Attempt): string {
  return `${attempt.run.run_id}/${attempt.request.key}/${attempt.number}`;
}
