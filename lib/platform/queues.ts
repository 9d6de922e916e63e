/** The queues port: SQS. A queue is named by its logical name in the template. */

export interface OutgoingMessage {
  /** Text, usually JSON. */
  readonly body: string;
  /** FIFO queues only: messages of one group are delivered one at a time, in order. */
  readonly groupId?: string;
  /** FIFO queues only: further messages with the same id within five minutes are dropped. */
  readonly deduplicationId?: string;
  /** Not for FIFO queues on AWS. Whole seconds, at most 900 on AWS; use timers for longer delays. */
  readonly delaySeconds?: number;
}

export interface ReceivedMessage {
  readonly id: string;
  /** Identifies this delivery; deleting the message or changing its visibility requires it. */
  readonly receipt: string;
  readonly body: string;
  readonly groupId?: string;
  /** 1 at the first delivery. Excludes deliveries that ended because the server stopped, if that is known. */
  readonly receiveCount: number;
  /**
   * Deliveries that ended, or may have ended, because the server stopped; missing if there are none or it is unknown.
   */
  readonly interrupted?: number;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
}

export interface QueueDepth {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

export interface Queues {
  /**
   * The messages are accepted when the promise settles, with the durability of `Tables.write`. Any number of messages.
   */
  send(queue: string, messages: readonly OutgoingMessage[]): Promise<void>;
  /**
   * Receives up to `max` messages (1 to 10 on AWS) and hides them from other consumers for `visibilitySeconds`. Waits
   * up to `waitSeconds` for the first message; aborting the signal ends the wait with an empty list.
   */
  receive(
    queue: string,
    options: { max: number; visibilitySeconds: number; waitSeconds: number; signal?: AbortSignal },
  ): Promise<ReceivedMessage[]>;
  delete(queue: string, receipts: readonly string[]): Promise<void>;
  /** Hides a delivered message for this many seconds from now; 0 makes it visible at once. */
  changeVisibility(queue: string, receipt: string, seconds: number): Promise<void>;
  depth(queue: string): Promise<QueueDepth>;
}
