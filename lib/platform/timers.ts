import type { OutgoingMessage } from "./queues.ts";

/** The timers port: a message sent to a queue at a time, however far off, at least once. */
export interface Timers {
  /** `id` names the timer; setting it again moves it. `at` in milliseconds since the epoch. */
  set(id: string, at: number, queue: string, message: OutgoingMessage): Promise<void>;
  cancel(id: string): Promise<void>;
}
