import { StepFailedError } from "../engine/step-failure.ts";
import { isGiven } from "../expressions/parse.ts";
import type { Step } from "../schema/types.ts";
import type { NeededNames } from "../values/needed-names.ts";
import type { Attempt, Scope } from "./context.ts";
import { logStep } from "./run-log.ts";

/** Each delivery of a step has its own object, shared by the items of a batch, so each name is logged once. */
const noted = new WeakMap<Step, Set<string>>();

/**
 * Logs the names in a part of a step's templates that have no value; they render as empty text. Throws StepFailedError if
 * the workflow or the installation makes such names an error.
 */
export function checkNames(attempt: Attempt, scope: Scope, step: Step, part: keyof NeededNames): void {
  const missing = (attempt.absent?.[part] ?? []).filter(
    (needed) => !isGiven(needed, (name) => scope.values[name] !== undefined),
  );
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => `{{${name}}}`);
  if (attempt.run.undefined_names === "fail") {
    throw new StepFailedError(`undefined: ${names.join(", ")}; set a default with {{name | default("")}}`);
  }
  const before = noted.get(step) ?? new Set<string>();
  noted.set(step, before);
  for (const name of names) {
    if (before.has(name)) continue;
    before.add(name);
    logStep(attempt, `warning: ${name} is undefined and evaluates to an empty text`);
  }
}
