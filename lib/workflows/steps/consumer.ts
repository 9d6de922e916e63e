import { type Consumer, defineConsumer, eachMessage, type LastFailure } from "../../events/consumer.ts";
import { COMMAND_SOURCE } from "../../events/publish.ts";
import type { BusEnvelope } from "../../platform/bus.ts";
import type { StepType } from "../schema/types.ts";
import type { StepDeps } from "./context.ts";
import { executeStep } from "./execute.ts";
import { type ExecutionTarget, STEP_REQUESTED, type StepCommand, sendToConductor } from "./messages.ts";

/** Limit of Lambda. A worker, which runs on the machine of the workspace, takes as long as the step. */
const TIMEOUT_SECONDS = 900;
/** A request is given up after this number of deliveries with faults. */
const DELIVERIES_MAX = 10;

interface Options {
  readonly summary: string;
  readonly concurrency: number;
  readonly lambda?: { readonly concurrency: number };
  /** Steps of the type have effects outside only through scripts and notifications, which wait for the disk. */
  readonly eager?: true;
}

/** The executor of a step type: the bus sends it the steps of that type that can be executed anywhere. */
export function stepConsumer(type: StepType, options: Options): StepConsumer {
  return executor(type, { type: [type], execution_target: ["anywhere"] }, options);
}

/** The executor of steps of some types that need the run's workspace. */
export function workspaceConsumer(name: string, types: readonly StepType[], options: Options): StepConsumer {
  return { ...executor(name, { type: types, execution_target: ["workspace"] }, options), worker: true };
}

type StepConsumer = Consumer<BusEnvelope<StepCommand>, StepDeps>;

function executor(
  name: string,
  detail: { readonly type: readonly StepType[]; readonly execution_target: readonly ExecutionTarget[] },
  { summary, ...queue }: Options,
): StepConsumer {
  return defineConsumer({
    name,
    summary,
    rule: { source: [COMMAND_SOURCE], "detail-type": [STEP_REQUESTED], detail },
    queue: { maxReceiveCount: DELIVERIES_MAX, batchSize: 1, ...queue },
    timeoutSeconds: TIMEOUT_SECONDS,
    executor: true,
    noteFailure: recordStepFailure,
    run: (messages, deps: StepDeps, { signal }) =>
      eachMessage(messages, ({ body, ...delivery }) => executeStep(deps, body.detail, delivery, signal)),
  });
}

/** Reports the failure to the conductor, which has tables. Ignores messages that are no step requests. */
export async function recordStepFailure(deps: StepDeps, failure: LastFailure): Promise<void> {
  const runId = runOf(failure.body);
  if (runId === undefined) return;
  const error = failure.error instanceof Error ? failure.error.message : String(failure.error);
  const { queue, messageId: message_id, body } = failure;
  const message = { run_id: runId, failure: { queue, message_id, body, error: deps.secrets.redact(error) } };
  await sendToConductor(deps, message, `failure:${message_id}`);
}

function runOf(body: string): string | undefined {
  try {
    const { detail } = JSON.parse(body) as { detail?: { run_id?: unknown } };
    return typeof detail?.run_id === "string" ? detail.run_id : undefined;
  } catch {
    return undefined;
  }
}
