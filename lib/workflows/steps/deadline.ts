import { parseDuration } from "../../durations.ts";
import { StepFailedError } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderText } from "../expressions/render-text.ts";
import type { Step } from "../schema/types.ts";
import type { Scope } from "./context.ts";

/** Returns the `timeout` of a step, milliseconds; undefined without one. Throws StepFailedError if it is not a duration. */
export function timeoutOf(step: Step, scope: Scope): number | undefined {
  const { timeout } = step;
  if (timeout === undefined) return undefined;
  const text =
    typeof timeout === "number" ? timeout : renderText(parseTemplate(timeout, scope), scope.values).trim();
  if (text === "" || text === "0") return undefined;
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) throw new StepFailedError(`timeout: not a duration: ${text}`);
  return milliseconds === 0 ? undefined : milliseconds;
}

/**
 * Returns the deadline of an attempt, milliseconds since the epoch: the earlier of the step's own timeout from now and
 * that of the containers around it. Undefined without any.
 */
export function deadlineOf(
  step: Step,
  scope: Scope,
  around: number | undefined,
  now: number,
): number | undefined {
  const own = timeoutOf(step, scope);
  if (own === undefined) return around;
  return Math.min(now + own, around ?? Number.POSITIVE_INFINITY);
}
