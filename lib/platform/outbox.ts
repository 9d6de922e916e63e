import type { BusEntry } from "./bus.ts";
import type { OutgoingMessage } from "./queues.ts";
import type { Write, WriteOutcome } from "./tables.ts";

export interface Commit {
  readonly writes: readonly Write[];
  readonly publish?: readonly BusEntry[];
  readonly send?: readonly { readonly queue: string; readonly messages: readonly OutgoingMessage[] }[];
}

/**
 * State first, then the messages that tell of it. The writes are one transaction; the messages are put
 * out only after it held, in order, and a crash in between loses them: whoever commits must be able to
 * find what was not sent (an unprocessed log record, a pending command) and send it again. The embedded
 * platform does both in one commit, and says so; no code may need that.
 */
export interface Outbox {
  /** Messages are sent with the writes, or neither is done: what was committed needs no second sending. */
  readonly atomic?: true;
  commit(commit: Commit): Promise<WriteOutcome>;
}
