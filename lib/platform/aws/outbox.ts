import type { Outbox } from "../outbox.ts";
import type { AwsBus } from "./bus.ts";
import type { AwsQueues } from "./queues.ts";
import type { AwsTables } from "./tables.ts";

/**
 * The outbox port: commits the writes, then publishes the events, then sends the messages. Validates all of them before
 * writing. Rejects if the writes succeeded but a message could not be sent, so that the caller tries again.
 */
export function awsOutbox(tables: AwsTables, bus: AwsBus, queues: AwsQueues): Outbox {
  return {
    commit: async ({ writes, publish = [], send = [] }) => {
      const prepared = tables.prepare(writes);
      const events = bus.prepare(publish);
      const sends = send.map(({ queue, messages }) => queues.prepare(queue, messages));
      const outcome = await tables.commit(prepared);
      if (!outcome.ok) return outcome;
      await bus.publish(events);
      for (const one of sends) await queues.send(one);
      return outcome;
    },
  };
}
