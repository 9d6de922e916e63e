import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { defineConsumer, toConsumerHandler } from "#lib/events/consumer.ts";
import { fireDueSchedules } from "#lib/workflows/schedules/fire-due-schedules.ts";

export const consumer = defineConsumer({
  name: "fire",
  summary: "Fires due schedules",
  schedule: "rate(1 minute)",
  // Rules of many expressions fire at the same minute, and one query serves all of them.
  queue: { maxReceiveCount: 3, batchSize: 10, concurrency: 2 },
  timeoutSeconds: 120,
  scripts: true,
  run: async (_messages, deps: Deps) => {
    await fireDueSchedules(deps);
    return undefined;
  },
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
