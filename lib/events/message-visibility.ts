import type { Log } from "../platform/log.ts";
import type { Queues } from "../platform/queues.ts";

/** Seconds that a message in progress is hidden at a time: after a crash, it is redelivered this much later. */
export const HIDDEN_SECONDS = 45;
const RENEW_EVERY_MS = (HIDDEN_SECONDS * 1000) / 3;

/** Seconds until a failed message is redelivered; each further failure triples the delay. */
const BACKOFF_BASE_SECONDS = 1;
const BACKOFF_FACTOR = 3;
const BACKOFF_MAX_SECONDS = 900;

/** One delivery of a message. */
export interface Delivery {
  readonly messageId: string;
  readonly queue: string;
  readonly receipt: string;
  readonly receiveCount: number;
  readonly maxReceiveCount: number;
}

export interface VisibilityDeps {
  readonly queues: Pick<Queues, "changeVisibility">;
  readonly log: Pick<Log, "warn">;
}

export interface HiddenDeliveries {
  /** Stops renewing, and sets the backoff of each failed message. Never rejects. */
  end(isFailed: (messageId: string) => boolean): Promise<void>;
}

/**
 * Manages the visibility of the messages that a Lambda function processes. The queue's own visibility timeout must not
 * be shorter than the function's timeout, so it is only an upper bound: this shortens it at once, renews it while the
 * function works, and sets a backoff for failed messages. A failing call is logged and only delays redelivery until the
 * queue's own timeout.
 */
export function hideDeliveries(deps: VisibilityDeps, deliveries: readonly Delivery[]): HiddenDeliveries {
  const change = async ({ queue, receipt, messageId }: Delivery, seconds: number): Promise<void> => {
    try {
      await deps.queues.changeVisibility(queue, receipt, seconds);
    } catch (error) {
      deps.log.warn("changing the visibility timeout of a message failed", {
        queue,
        message: messageId,
        error,
      });
    }
  };
  const hideAll = () => Promise.all(deliveries.map((delivery) => change(delivery, HIDDEN_SECONDS)));

  let renewed = hideAll();
  const renewal = setInterval(() => {
    renewed = renewed.then(hideAll);
  }, RENEW_EVERY_MS);
  renewal.unref();
  return {
    end: async (isFailed) => {
      clearInterval(renewal);
      // The backoff must be set last; a request that Lambda suspends fails when it is resumed.
      await renewed;
      const failed = deliveries.filter(({ messageId }) => isFailed(messageId));
      await Promise.all(failed.map((delivery) => change(delivery, backoffSeconds(delivery))));
    },
  };
}

/** 0 after the last delivery: the queue then moves the message to its dead-letter queue. */
function backoffSeconds({ receiveCount, maxReceiveCount }: Delivery): number {
  if (receiveCount >= maxReceiveCount) return 0;
  return Math.min(BACKOFF_MAX_SECONDS, BACKOFF_BASE_SECONDS * BACKOFF_FACTOR ** (receiveCount - 1));
}
