import { openStoredAwsDeps } from "./deps-aws-stored.ts";
import { composeStepDeps, type ExecutorDeps } from "./deps-compose-steps.ts";
import { openedOnce } from "./platform/opened-once.ts";

/** What a bundle has for `openDeps` of `deps.ts` where the function executes steps: it holds no tables, and no lists. */
export const openDeps: () => Promise<ExecutorDeps> = openedOnce(() =>
  openStoredAwsDeps(process.env, composeStepDeps),
);
