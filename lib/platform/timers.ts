import type { OutgoingMessage } from "./queues.ts";

/** The timers port: sends a message to a queue at a given time, at least once. There is no maximum delay. */
export interface Timers {
  /** `id` identifies the timer; setting it again changes its time. `at` is in milliseconds since the epoch. */
  set(id: string, at: number, queue: string, message: OutgoingMessage): Promise<void>;
  cancel(id: string): Promise<void>;
}
