import { openExecutorDeps } from "#lib/app/aws.ts";
import { toConsumerHandler } from "#lib/events/consumer.ts";
import { stepConsumer } from "#lib/workflows/steps/consumer.ts";

export const consumer = stepConsumer("parallel-steps", {
  summary: "Starts and completes parallel-steps",
  concurrency: 32,
  eager: true,
});

export const handler = toConsumerHandler(consumer, openExecutorDeps);
