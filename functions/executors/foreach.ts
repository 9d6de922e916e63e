import { type Deps, openDeps } from "#lib/deps.ts";
import { defineConsumer, eachMessage, toConsumerHandler } from "#lib/events/consumer.ts";
import type { BusEnvelope } from "#lib/platform/bus.ts";
import type { StepCommand } from "#lib/workflow/runs/conduct.ts";
import { executeStep } from "#lib/workflow/steps/execute.ts";

export const consumer = defineConsumer({
  name: "foreach",
  summary: "Opens and closes foreach steps",
  rule: { source: ["weft.commands"], "detail-type": ["step.requested"], detail: { type: ["foreach"] } },
  queue: { maxReceiveCount: 10, batchSize: 1, concurrency: 32 },
  timeoutSeconds: 900,
  worker: true,
  run: (messages, deps: Deps, { signal }) =>
    eachMessage(messages, ({ body }) => executeStep(deps, (body as BusEnvelope<StepCommand>).detail, signal)),
});

export const handler = toConsumerHandler(consumer, openDeps);
