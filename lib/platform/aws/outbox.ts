import type { Outbox } from "../outbox.ts";
import type { AwsBus } from "./bus.ts";
import type { AwsQueues } from "./queues.ts";
import type { AwsTables } from "./tables.ts";

/**
 * The outbox port: the writes, then the events, then the messages. All are checked before anything is written;
 * rejects where the writes held and a message could not be put out, so that whoever commits tries again.
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
