import { StepFailed } from "../engine/step-failure.ts";
import { isGiven } from "../expressions/parse.ts";
import type { Step } from "../schema/types.ts";
import type { NeededNames } from "../values/needed-names.ts";
import type { Attempt, Scope } from "./context.ts";
import { logStep } from "./run-log.ts";

/** Every delivery of a step has an object of its own, which the items of a batch share: each name is noted once. */
const noted = new WeakMap<Step, Set<string>>();

/**
 * Notes in the run's log the names in a part of a step's templates that nothing gives a value. They render as the
 * empty text. Throws StepFailed if the workflow or the installation lets a step fail over them.
 */
export function checkNames(attempt: Attempt, scope: Scope, step: Step, part: keyof NeededNames): void {
  const missing = (attempt.absent?.[part] ?? []).filter(
    (needed) => !isGiven(needed, (name) => scope.values[name] !== undefined),
  );
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => `{{${name}}}`);
  if (attempt.run.undefined_names === "fail") {
    throw new StepFailed(
      `nothing gives ${names.join(", ")} a value; a default is given by {{name | default("")}}`,
    );
  }
  const before = noted.get(step) ?? new Set<string>();
  noted.set(step, before);
  for (const name of names) {
    if (before.has(name)) continue;
    before.add(name);
    logStep(attempt, `warning: nothing gives ${name} a value, it is empty`);
  }
}
