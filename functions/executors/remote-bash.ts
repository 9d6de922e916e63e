import { openDeps } from "#lib/deps.ts";
import { toConsumerHandler } from "#lib/events/consumer.ts";
import { workspaceConsumer } from "#lib/workflows/steps/consumer.ts";

export const consumer = workspaceConsumer("remote-bash", ["remote-bash"], {
  summary: "Executes remote-bash steps",
  concurrency: 8,
});

export const handler = toConsumerHandler(consumer, openDeps);
