import { StepFailed } from "./failure.ts";

/** A step type that is stored, listed and checked, and that this release cannot execute. */
export function unavailable(type: "llm"): never {
  throw new StepFailed(`steps of type ${type} cannot be executed by this release`);
}
