import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { defineConsumer, eachMessage, toConsumerHandler } from "#lib/events/consumer.ts";
import { indexDeadLetters, storeDeadLetter } from "#lib/workflows/dead-letters/dead-letters.ts";

export const consumer = defineConsumer({
  name: "dead-letters",
  summary: "Stores dead letters, so that they can be listed and redriven",
  deadLetters: true,
  queue: { maxReceiveCount: 100, batchSize: 10, concurrency: 2 },
  timeoutSeconds: 60,
  scripts: true,
  run: async (messages, deps: Deps) => {
    const failures = await eachMessage(messages, ({ id, queue, body }) =>
      storeDeadLetter(deps, {
        id,
        queue: queue.replace(/-(?:dead-letters|undelivered)$/, ""),
        body: body as string,
      }),
    );
    await indexDeadLetters(deps);
    return failures;
  },
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
