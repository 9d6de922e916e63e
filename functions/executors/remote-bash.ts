import { openExecutorDeps } from "#lib/app/aws.ts";
import { toConsumerHandler } from "#lib/events/consumer.ts";
import { workspaceConsumer } from "#lib/workflows/steps/consumer.ts";

export const consumer = workspaceConsumer("remote-bash", ["remote-bash"], {
  summary: "Executes remote-bash steps",
  concurrency: 8,
});

export const handler = toConsumerHandler(consumer, openExecutorDeps);
