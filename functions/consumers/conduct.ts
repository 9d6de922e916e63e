import { type DocumentDeps, openDocumentConsumerDeps } from "#lib/app/aws.ts";
import { documentCallHandler } from "#lib/app/compose.ts";
import { defineConsumer, type Message, toConsumerHandler } from "#lib/events/consumer.ts";
import { conduct } from "#lib/workflows/runs/conduct.ts";
import {
  type HostCall,
  hostCallResultBlob,
  openMessage,
  type QueuedMessage,
} from "#lib/workflows/steps/messages.ts";

export const consumer = defineConsumer({
  name: "conduct",
  summary: "Decides what a run does next",
  queue: {
    fifo: true,
    maxReceiveCount: 8,
    batchSize: 10,
    concurrency: 16,
    lambda: { concurrency: 256 },
    eager: true,
  },
  timeoutSeconds: 60,
  scripts: true,
  run: async (messages, deps: DocumentDeps) => {
    const failures = new Map<string, unknown>();
    const runs = Map.groupBy(messages as readonly Message<QueuedMessage>[], ({ body }) => body.run_id);
    await Promise.all([...runs.values()].map((inputs) => conductInOrder(inputs, deps, failures)));
    return failures;
  },
});

/** Processes the inputs of one run in order; after a failure the rest are delivered again with the failed one. */
async function conductInOrder(
  inputs: readonly Message<QueuedMessage>[],
  deps: DocumentDeps,
  failures: Map<string, unknown>,
): Promise<void> {
  for (const [index, { body }] of inputs.entries()) {
    try {
      const message = await openMessage(deps, body);
      const { failure } = message;
      if (failure !== undefined) await deps.noteLastFailure({ ...failure, messageId: failure.message_id });
      if (message.call !== undefined) await handleHostCall(deps, message.run_id, message.call);
      else await conduct(deps, message);
    } catch (error) {
      for (const { id } of inputs.slice(index)) failures.set(id, error);
      return;
    }
  }
}

/** Stores the result of a host call where the executor, which has no tables, reads it. */
async function handleHostCall(deps: DocumentDeps, runId: string, { id, query }: HostCall): Promise<void> {
  const { handleScriptCall } = await import("#lib/workflows/script-api/handle-script-call.ts");
  const answer = await handleScriptCall(
    { ...deps, handleDocumentCall: documentCallHandler(deps) },
    runId,
    query,
  );
  await deps.blobs.put(hostCallResultBlob(runId, id), JSON.stringify(answer));
}

export const handler = toConsumerHandler(consumer, openDocumentConsumerDeps);
