import { openExecutorDeps } from "#lib/app/aws.ts";
import { toConsumerHandler } from "#lib/events/consumer.ts";
import { stepConsumer } from "#lib/workflows/steps/consumer.ts";

export const consumer = stepConsumer("function", {
  summary: "Executes function steps",
  concurrency: 32,
  lambda: { concurrency: 256 },
  eager: true,
});

export const handler = toConsumerHandler(consumer, openExecutorDeps);
