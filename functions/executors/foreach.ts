import { openExecutorDeps } from "#lib/app/aws.ts";
import { toConsumerHandler } from "#lib/events/consumer.ts";
import { stepConsumer } from "#lib/workflows/steps/consumer.ts";

export const consumer = stepConsumer("foreach", {
  summary: "Starts and completes foreach steps",
  concurrency: 32,
  eager: true,
});

export const handler = toConsumerHandler(consumer, openExecutorDeps);
