import type { Timers } from "../timers.ts";
import type { EmbeddedQueues } from "./queues.ts";
import type { Store } from "./store.ts";

const TIMER_KEY = "timer:";

/** The timers port: delayed messages with keys of timers, at any distance. */
export function embeddedTimers(store: Store, queues: EmbeddedQueues): Timers {
  const { delayed } = queues;
  return {
    set: async (id, at, queue, message) => {
      if (!Number.isFinite(at)) throw new RangeError("a timer requires a time");
      const { messages } = queues.prepare(queue, [message]);
      await store.write((tx) => {
        for (const one of messages) delayed.put(tx, `${TIMER_KEY}${id}`, Math.ceil(at), queue, one);
      });
    },
    cancel: (id) => store.write((tx) => delayed.cancel(tx, `${TIMER_KEY}${id}`)),
  };
}
