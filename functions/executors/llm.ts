import { openExecutorDeps } from "#lib/app/aws.ts";
import { toConsumerHandler } from "#lib/events/consumer.ts";
import { stepConsumer } from "#lib/workflows/steps/consumer.ts";

export const consumer = stepConsumer("llm", { summary: "Executes llm steps", concurrency: 8 });

export const handler = toConsumerHandler(consumer, openExecutorDeps);
