import { openExecutorDeps } from "#lib/app/aws.ts";
import { toConsumerHandler } from "#lib/events/consumer.ts";
import { workspaceConsumer } from "#lib/workflows/steps/consumer.ts";

export const consumer = workspaceConsumer(
  "workspace-steps",
  ["function", "http", "foreach", "parallel-steps", "llm"],
  {
    summary: "Executes steps of the other types that use files, take long or process many items",
    concurrency: 64,
  },
);

export const handler = toConsumerHandler(consumer, openExecutorDeps);
