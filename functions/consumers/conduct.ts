import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { documentCallHandler } from "#lib/app/compose.ts";
import { defineConsumer, type Message, toConsumerHandler } from "#lib/events/consumer.ts";
import { conduct } from "#lib/workflows/runs/conduct.ts";
import {
  answerBlob,
  openMessage,
  type QueuedMessage,
  type RecordsQuestion,
} from "#lib/workflows/steps/messages.ts";

export const consumer = defineConsumer({
  name: "conduct",
  summary: "Decides what a run does next",
  queue: { fifo: true, maxReceiveCount: 8, batchSize: 10, concurrency: 16, eager: true },
  timeoutSeconds: 60,
  scripts: true,
  run: async (messages, deps: Deps) => {
    const failures = new Map<string, unknown>();
    const runs = Map.groupBy(messages as readonly Message<QueuedMessage>[], ({ body }) => body.run_id);
    await Promise.all([...runs.values()].map((inputs) => conductInOrder(inputs, deps, failures)));
    return failures;
  },
});

/** Inputs of one run in their order; after a failure the rest of them come again with it. */
async function conductInOrder(
  inputs: readonly Message<QueuedMessage>[],
  deps: Deps,
  failures: Map<string, unknown>,
): Promise<void> {
  for (const [index, { body }] of inputs.entries()) {
    try {
      const message = await openMessage(deps, body);
      const { failure } = message;
      if (failure !== undefined) await deps.noteLastFailure({ ...failure, messageId: failure.message_id });
      if (message.question !== undefined) await answerQuestion(deps, message.run_id, message.question);
      else await conduct(deps, message);
    } catch (error) {
      for (const { id } of inputs.slice(index)) failures.set(id, error);
      return;
    }
  }
}

/** For executors, who have no tables: the answer lies where they look for it. */
async function answerQuestion(deps: Deps, runId: string, { id, query }: RecordsQuestion): Promise<void> {
  const { answerScript } = await import("#lib/workflows/script-api/answer-script.ts");
  const answer = await answerScript({ ...deps, answerDocuments: documentCallHandler(deps) }, runId, query);
  await deps.blobs.put(answerBlob(runId, id), JSON.stringify(answer));
}

export const handler = toConsumerHandler(consumer, openConsumerDeps);
