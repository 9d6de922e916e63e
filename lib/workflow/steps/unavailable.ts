import { StepFailed } from "./failure.ts";

/** Step types that are stored, listed and checked, and that this release cannot execute. */
export function unavailable(type: "remote-bash"): never {
  throw new StepFailed(`steps of type ${type} cannot be executed by this release`);
}
