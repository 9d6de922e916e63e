import { openExecutorDeps } from "#lib/app/aws.ts";
import { toConsumerHandler } from "#lib/events/consumer.ts";
import { stepConsumer } from "#lib/workflows/steps/consumer.ts";

export const consumer = stepConsumer("http", { summary: "Executes http steps", concurrency: 64 });

export const handler = toConsumerHandler(consumer, openExecutorDeps);
