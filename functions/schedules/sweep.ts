import { type Deps, openDeps } from "#lib/deps.ts";
import { defineConsumer, toConsumerHandler } from "#lib/events/consumer.ts";
import { resendPending } from "#lib/events/log/process.ts";
import { resendStalled } from "#lib/workflow/runs/sweep.ts";

/** Events sent on in one sweep. */
const EVENTS_MAX = 100;

export const consumer = defineConsumer({
  name: "sweep",
  summary: "Sends again what was lost between a commit and its message",
  schedule: "rate(1 minute)",
  queue: { maxReceiveCount: 3, batchSize: 1, concurrency: 2 },
  timeoutSeconds: 120,
  run: async (_messages, deps: Deps) => {
    await resendPending(deps, EVENTS_MAX);
    await resendStalled(deps);
    return undefined;
  },
});

export const handler = toConsumerHandler(consumer, openDeps);
