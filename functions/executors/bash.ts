import { openExecutorDeps } from "#lib/app/aws.ts";
import { toConsumerHandler } from "#lib/events/consumer.ts";
import { workspaceConsumer } from "#lib/workflows/steps/consumer.ts";

export const consumer = workspaceConsumer("bash", ["bash"], {
  summary: "Executes bash steps",
  concurrency: 64,
});

export const handler = toConsumerHandler(consumer, openExecutorDeps);
