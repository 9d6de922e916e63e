import type { Outbox } from "../outbox.ts";
import type { EmbeddedBus } from "./bus.ts";
import type { EmbeddedQueues } from "./queues.ts";
import type { Store } from "./store.ts";
import type { EmbeddedTables } from "./tables.ts";

/** The outbox port in one commit: the writes and the messages are committed together, or nothing is. */
export function embeddedOutbox(
  store: Store,
  tables: EmbeddedTables,
  bus: EmbeddedBus,
  queues: EmbeddedQueues,
): Outbox {
  return {
    atomic: true,
    commit: async ({ writes, publish = [], send = [] }) => {
      const prepared = tables.prepare(writes);
      const events = bus.prepare(publish);
      const sends = send.map(({ queue, messages }) => queues.prepare(queue, messages));
      return store.write((tx) => {
        const outcome = tables.apply(tx, prepared);
        if (!outcome.ok) return outcome;
        bus.send(tx, events);
        for (const one of sends) queues.send(tx, one);
        return outcome;
      });
    },
  };
}
