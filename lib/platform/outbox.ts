import type { BusEntry } from "./bus.ts";
import type { OutgoingMessage } from "./queues.ts";
import type { Write, WriteOutcome } from "./tables.ts";

export interface Commit {
  readonly writes: readonly Write[];
  readonly publish?: readonly BusEntry[];
  readonly send?: readonly { readonly queue: string; readonly messages: readonly OutgoingMessage[] }[];
}

/**
 * Commits state, then sends the messages about it. The writes are one transaction; the messages are sent in order after
 * it succeeded. A crash in between loses them, so callers must be able to find unsent messages (an unprocessed log
 * record, a pending command) and send them again. The embedded platform does both in one commit and sets `atomic`; no
 * code may rely on that.
 */
export interface Outbox {
  /** Writes and messages are committed together, so that messages never need to be sent again. */
  readonly atomic?: true;
  commit(commit: Commit): Promise<WriteOutcome>;
}
