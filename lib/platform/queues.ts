/** The queues port: SQS. A queue is named by its logical name in the template. */

export interface OutgoingMessage {
  /** Text, usually JSON. */
  readonly body: string;
  /** FIFO queues only: messages of one group are delivered one after another, in order. */
  readonly groupId?: string;
  /** FIFO queues only: a second message with the same id within five minutes is dropped. */
  readonly deduplicationId?: string;
  /** Not on FIFO queues of AWS. Whole seconds, at most 900 in AWS; longer waits are the timers' work. */
  readonly delaySeconds?: number;
}

export interface ReceivedMessage {
  readonly id: string;
  /** Names this delivery; what is done to a message is done through it. */
  readonly receipt: string;
  readonly body: string;
  readonly groupId?: string;
  /** 1 at the first delivery. Deliveries that ended with the whole server are not among these, where that is known. */
  readonly receiveCount: number;
  /** Deliveries that ended with the whole server, or may have; left out where there is none, or nobody can know. */
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
  /** Kept when the promise settles, as `Tables.write` says. Any number of messages. */
  send(queue: string, messages: readonly OutgoingMessage[]): Promise<void>;
  /**
   * Up to `max` (1 to 10 in AWS) messages, hidden from others for `visibilitySeconds`. Waits up to
   * `waitSeconds` for the first; an aborted signal ends the wait with an empty list.
   */
  receive(
    queue: string,
    options: { max: number; visibilitySeconds: number; waitSeconds: number; signal?: AbortSignal },
  ): Promise<ReceivedMessage[]>;
  delete(queue: string, receipts: readonly string[]): Promise<void>;
  /** Hides a delivered message for so long from now; 0 gives it back at once. */
  changeVisibility(queue: string, receipt: string, seconds: number): Promise<void>;
  depth(queue: string): Promise<QueueDepth>;
}
