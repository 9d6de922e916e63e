import type { Compose } from "./deps-aws.ts";
import { findShell } from "./deps-compose.ts";
import type { ConsumerDeps } from "./events/consumer.ts";
import { openNetwork } from "./network/network.ts";
import { noteStepFailure } from "./workflows/steps/consumer.ts";
import type { StepDeps } from "./workflows/steps/context.ts";

export type ExecutorDeps = StepDeps & ConsumerDeps;

/** Puts together what executors of steps ask for. */
export const composeStepDeps: Compose<ExecutorDeps> = (ports, config, own) => {
  const steps = { shell: findShell(ports.log), network: openNetwork(config.network), llm: config.llm };
  const deps = { ...ports, ...own, ...steps };
  return { ...deps, noteLastFailure: (failure) => noteStepFailure(deps, failure) };
};
