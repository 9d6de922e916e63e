import { parseDuration } from "../definition/durations.ts";
import type { Step } from "../definition/types.ts";
import type { Program } from "../engine/program.ts";
import { stepKey, stepsTable } from "../runs/table.ts";
import { parseTemplate } from "../templates/parse.ts";
import { renderText } from "../templates/text.ts";
import type { Attempt, Scope } from "./context.ts";
import { StepFailed } from "./failure.ts";
import { loadScope } from "./scope.ts";

/** `timeout` of a step, milliseconds; undefined without one. Throws StepFailed for what is no duration. */
export function timeoutOf(step: Step, scope: Scope): number | undefined {
  const { timeout } = step;
  if (timeout === undefined) return undefined;
  const text =
    typeof timeout === "number" ? timeout : renderText(parseTemplate(timeout, scope), scope.values).trim();
  if (text === "" || text === "0") return undefined;
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) throw new StepFailed(`timeout: not a duration: ${text}`);
  return milliseconds === 0 ? undefined : milliseconds;
}

/**
 * When an attempt must end, by the clock: the step's own timeout from now, and those of the foreach and
 * parallel-steps around it from when they began. Undefined without any.
 */
export async function deadlineOf(
  attempt: Attempt,
  scope: Scope,
  program: Program,
  variables: readonly string[],
): Promise<number | undefined> {
  const own = timeoutOf(attempt.step, scope);
  let deadline = own === undefined ? Number.POSITIVE_INFINITY : attempt.deps.clock.now() + own;
  const { run, request, deps } = attempt;
  for (let key = request.parent; key !== null; ) {
    const frame = run.state.frames[key];
    const step = frame === undefined ? undefined : program.modules[request.module]?.byName.get(frame.step);
    if (frame === undefined || step === undefined) break;
    if (step.timeout !== undefined) {
      const timeoutMs = timeoutOf(step, await loadScope(deps, run, step, variables, attempt.number));
      const row =
        timeoutMs === undefined ? undefined : await deps.tables.get(stepsTable, stepKey(run.run_id, key));
      if (timeoutMs !== undefined && row !== undefined) {
        deadline = Math.min(deadline, Date.parse(row.started_at) + timeoutMs);
      }
    }
    key = frame.parent;
  }
  return deadline === Number.POSITIVE_INFINITY ? undefined : deadline;
}
