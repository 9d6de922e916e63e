import type { Log } from "../platform/log.ts";
import type { Queues } from "../platform/queues.ts";

/** A message under work is hidden for this long at a time: a function that died is noticed after it, seconds. */
export const HIDDEN_SECONDS = 45;
const RENEW_EVERY_MS = (HIDDEN_SECONDS * 1000) / 3;

/** A failed message comes back after this long; each further failure triples the wait, seconds. */
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
  /** Stops renewing, and lets each failed message come back after its backoff. Never rejects. */
  end(isFailed: (messageId: string) => boolean): Promise<void>;
}

/**
 * Manages the visibility of the messages that a Lambda function works on. The queue's own visibility timeout must
 * not be shorter than the function's timeout, so it is only an upper bound: here it is shortened at once, renewed
 * while the function works, and set to a backoff where a message failed. A call that fails is logged and costs no
 * more than the wait for the queue's own timeout.
 */
export function hideDeliveries(deps: VisibilityDeps, deliveries: readonly Delivery[]): HiddenDeliveries {
  const change = async ({ queue, receipt, messageId }: Delivery, seconds: number): Promise<void> => {
    try {
      await deps.queues.changeVisibility(queue, receipt, seconds);
    } catch (error) {
      deps.log.warn("the visibility of a message could not be changed", { queue, message: messageId, error });
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
      // The backoff must be the last word; and a request that Lambda freezes half way fails when it is resumed.
      await renewed;
      const failed = deliveries.filter(({ messageId }) => isFailed(messageId));
      await Promise.all(failed.map((delivery) => change(delivery, backoffSeconds(delivery))));
    },
  };
}

/** None after the last delivery: the queue then moves the message to its dead-letter queue. */
function backoffSeconds({ receiveCount, maxReceiveCount }: Delivery): number {
  if (receiveCount >= maxReceiveCount) return 0;
  return Math.min(BACKOFF_MAX_SECONDS, BACKOFF_BASE_SECONDS * BACKOFF_FACTOR ** (receiveCount - 1));
}
