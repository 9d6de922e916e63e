import { type Deps, openDeps } from "#lib/deps.ts";
import { defineConsumer, type Message, toConsumerHandler } from "#lib/events/consumer.ts";
import { type ConductMessage, conduct } from "#lib/workflow/runs/conduct.ts";

export const consumer = defineConsumer({
  name: "conduct",
  summary: "Decides what a run does next",
  queue: { fifo: true, maxReceiveCount: 8, batchSize: 10, concurrency: 16 },
  timeoutSeconds: 60,
  run: async (messages, deps: Deps) => {
    const failures = new Map<string, unknown>();
    const runs = Map.groupBy(messages as readonly Message<ConductMessage>[], ({ body }) => body.run_id);
    await Promise.all([...runs.values()].map((inputs) => conductInOrder(inputs, deps, failures)));
    return failures;
  },
});

/** Inputs of one run in their order; after a failure the rest of them come again with it. */
async function conductInOrder(
  inputs: readonly Message<ConductMessage>[],
  deps: Deps,
  failures: Map<string, unknown>,
): Promise<void> {
  for (const [index, { body }] of inputs.entries()) {
    try {
      await conduct(deps, body);
    } catch (error) {
      for (const { id } of inputs.slice(index)) failures.set(id, error);
      return;
    }
  }
}

export const handler = toConsumerHandler(consumer, openDeps);
