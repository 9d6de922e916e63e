import { type Consumer, defineConsumer, eachMessage } from "../../events/consumer.ts";
import { COMMAND_SOURCE } from "../../events/publish.ts";
import type { BusEnvelope } from "../../platform/bus.ts";
import type { StepType } from "../definition/types.ts";
import { STEP_REQUESTED, type StepCommand } from "../runs/conduct.ts";
import type { StepDeps } from "./context.ts";
import { executeStep } from "./execute.ts";

/**
 * Lambda's limit. A worker, which runs where the workspace is, takes as long as the step does; a step that is
 * interrupted ten times, by restarts or faults, is given up.
 */
const TIMEOUT_SECONDS = 900;
const DELIVERIES_MAX = 10;

/** The executor of a step type: the bus sends it the steps of that type, one at a time. */
export function stepConsumer(
  type: StepType,
  options: { readonly summary: string; readonly concurrency: number },
): Consumer<BusEnvelope<StepCommand>, StepDeps> {
  return defineConsumer({
    name: type,
    summary: options.summary,
    rule: { source: [COMMAND_SOURCE], "detail-type": [STEP_REQUESTED], detail: { type: [type] } },
    queue: { maxReceiveCount: DELIVERIES_MAX, batchSize: 1, concurrency: options.concurrency },
    timeoutSeconds: TIMEOUT_SECONDS,
    worker: true,
    run: (messages, deps: StepDeps, { signal }) =>
      eachMessage(messages, ({ body }) => executeStep(deps, body.detail, signal)),
  });
}
