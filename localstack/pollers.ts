import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { LastFailure } from "../lib/events/consumer.ts";
import type { Log } from "../lib/platform/log.ts";
import type { Queues, ReceivedMessage } from "../lib/platform/queues.ts";
import type { Functions, Invocation } from "./functions.ts";
import { findFailedReceipts, queueEvent } from "./queue-event.ts";
import type { StepLimiter } from "./step-limiter.ts";
import type { TemplateFunction, TemplateSource } from "./template.ts";

/** Wait time of a receive, seconds: the maximum of SQS. */
const WAIT_SECONDS = 20;

/** Visibility timeout of a message in progress, extended repeatedly, so that messages of a killed process are soon visible, seconds. */
const HELD_SECONDS = 30;

/** Delay of a failed message, doubled with every delivery, seconds. */
const RETRY_BASE_SECONDS = 0.1;
const RETRY_MAX_SECONDS = 60;

/** Delay after a failed receive, doubled with every further one, milliseconds. */
const RECEIVE_PAUSE_MS = 100;
const RECEIVE_PAUSE_MAX_MS = 5_000;

/** After this many immediate empty responses in a row, a queue is polled less often. */
const HASTY_RECEIVES_MAX = 10;
const HASTY_MS = 50;

/**
 * Interval of health checks of services that do not respond, milliseconds: the first, and the maximum if they fail again
 * soon after they seemed to respond.
 */
const ASK_AGAIN_MS = 1_000;
const ASK_AGAIN_MAX_MS = 30_000;
const SOON_AFTER_MS = 10_000;

/** Time for handlers to end after their signal aborts, milliseconds. */
const ABORT_GRACE_MS = 1_000;

export interface PollersOptions {
  readonly functions: readonly TemplateFunction[];
  readonly invoke: Functions;
  readonly queues: Pick<Queues, "receive" | "delete" | "changeVisibility">;
  readonly log: Log;
  /**
   * Whether the services that handlers use respond, checked after a failure. While they do not, no messages are received:
   * every delivery would fail and count towards the maximum receive count. Never rejects.
   */
  readonly isUp?: () => Promise<boolean>;
  /** Visibility timeout of a message in progress, seconds. Default: that of its queue, at most 30. */
  readonly heldSeconds?: number | undefined;
  /** Records the failure of a last delivery that the handler did not report: it timed out or could not be loaded. */
  readonly noteLastFailure?: (failure: LastFailure) => Promise<void>;
  /** Limit of steps that are executed concurrently, over these queues together. */
  readonly steps?: { readonly gate: StepLimiter; readonly queues: ReadonlySet<string> };
}

export interface Pollers {
  /**
   * Stops receiving messages, waits up to `boundMs` for the invocations in progress, then aborts them; unfinished
   * messages return to their queues at once.
   */
  drain(boundMs: number): Promise<void>;
}

/** Polls the queues of all functions, like Lambda's event source mappings. */
export function startPollers(options: PollersOptions): Pollers {
  const gate = outageGate(options);
  const pollers = options.functions.flatMap((fn) =>
    fn.sources.map((source) => startPoller(fn, source, options, gate)),
  );
  return {
    drain: async (boundMs) => {
      for (const poller of pollers) poller.stop();
      const ended = Promise.all(pollers.map((poller) => poller.ended));
      if (await settlesWithin(ended, boundMs)) return;
      for (const poller of pollers) poller.abort();
      if (await settlesWithin(ended, ABORT_GRACE_MS)) return;
      await Promise.all(pollers.map((poller) => poller.giveBack()));
    },
  };
}

interface Poller {
  stop(): void;
  abort(): void;
  giveBack(): Promise<void>;
  readonly ended: Promise<void>;
}

interface Running {
  /** Undefined while it waits for room. */
  invocation?: Invocation;
  /** Unfinished messages. */
  messages: readonly ReceivedMessage[];
}

function startPoller(
  fn: TemplateFunction,
  source: TemplateSource,
  options: PollersOptions,
  gate: OutageGate,
): Poller {
  const { queues, invoke } = options;
  const { queue } = source;
  const heldSeconds = options.heldSeconds ?? Math.min(source.visibilitySeconds, HELD_SECONDS);
  const log = options.log.with({ function: fn.logicalId, queue });
  const stopping = new AbortController();
  const running = new Set<Running>();
  const slot = turnstile();
  const steps = options.steps?.queues.has(queue) === true ? options.steps.gate : undefined;

  const receive = (): Promise<ReceivedMessage[]> =>
    queues.receive(queue, {
      max: source.batchSize,
      visibilitySeconds: heldSeconds,
      waitSeconds: WAIT_SECONDS,
      signal: stopping.signal,
    });

  const poll = async (): Promise<void> => {
    let failures = 0;
    let hasty = 0;
    while (!stopping.signal.aborted) {
      if (running.size >= source.concurrency) {
        await slot.opened();
        continue;
      }
      if (steps?.isFull === true) {
        await steps.untilRoom();
        continue;
      }
      if (gate.closed !== undefined) {
        await Promise.race([gate.closed, aborted(stopping.signal)]);
        continue;
      }
      const askedAt = performance.now();
      try {
        const messages = await receive();
        failures = 0;
        if (messages.length > 0) {
          hasty = 0;
          if (stopping.signal.aborted) await giveBack(messages, 0);
          else void work(messages);
          if (messages.length < source.batchSize && source.restMs > 0)
            await pause(source.restMs, stopping.signal);
        } else {
          hasty = performance.now() - askedAt < HASTY_MS ? hasty + 1 : 0;
          if (hasty >= HASTY_RECEIVES_MAX) await pause(RECEIVE_PAUSE_MS, stopping.signal);
        }
      } catch (error) {
        if (stopping.signal.aborted) break;
        log.error("receiving messages failed", { error });
        await pause(Math.min(RECEIVE_PAUSE_MAX_MS, RECEIVE_PAUSE_MS * 2 ** failures), stopping.signal);
        failures += 1;
      }
    }
    while (running.size > 0) await slot.opened();
  };

  /** Invokes the function, and deletes or releases its messages. Never rejects. */
  const work = async (messages: readonly ReceivedMessage[]): Promise<void> => {
    const entry: Running = { messages };
    running.add(entry);
    const renewal = keepHidden(entry);
    let seconds: number | undefined;
    while (entry.messages.length > 0) {
      if (steps?.tryEnter() === false && !(await steps.acquire(stopping.signal))) {
        seconds = 0;
        break;
      }
      entry.invocation = invoke.start(fn, queueEvent(queue, entry.messages), { requestId: randomUUID() });
      const failed = await outcome(entry.invocation, entry.messages);
      steps?.release();
      if (failed.size > 0 && !stopping.signal.aborted) await gate.check();
      await remove(entry.messages.filter((message) => !failed.has(message.receipt)));
      entry.messages = entry.messages.filter((message) => failed.has(message.receipt));
      if (gate.closed === undefined) break;
      // An outage does not count as a delivery: the messages wait here until it is over, and are then tried again.
      await Promise.race([gate.closed, aborted(stopping.signal)]);
      if (stopping.signal.aborted) break;
      entry.messages = entry.messages.map((message) => ({
        ...message,
        interrupted: (message.interrupted ?? 0) + 1,
      }));
    }
    clearInterval(renewal);
    await giveBack(entry.messages, seconds);
    running.delete(entry);
    slot.open();
  };

  /** Receipts of the messages that failed: all of them if the invocation failed. */
  const outcome = async (
    invocation: Invocation,
    messages: readonly ReceivedMessage[],
  ): Promise<ReadonlySet<string>> => {
    try {
      return findFailedReceipts(messages, await invocation.result);
    } catch (error) {
      log.error("batch failed", { messages: messages.map((message) => message.id), error });
      await noteLast(messages, error);
      return new Set(messages.map((message) => message.receipt));
    }
  };

  /** Never rejects: a message that cannot be deleted is delivered again, and handlers are idempotent. */
  const remove = async (messages: readonly ReceivedMessage[]): Promise<void> => {
    if (messages.length === 0) return;
    const receipts = messages.map((message) => message.receipt);
    try {
      await queues.delete(queue, receipts);
    } catch (error) {
      log.error("deleting processed messages failed", { messages: receipts.length, error });
    }
  };

  const keepHidden = (entry: Running): NodeJS.Timeout =>
    setInterval(
      () => {
        for (const { receipt, id } of entry.messages) {
          queues.changeVisibility(queue, receipt, heldSeconds).catch((error: unknown) => {
            log.warn("extending the visibility timeout of a message failed", { message: id, error });
          });
        }
      },
      (heldSeconds * 1000) / 3,
    );

  const isLast = (message: ReceivedMessage): boolean =>
    message.receiveCount >= (source.maxReceiveCount ?? Number.POSITIVE_INFINITY);

  const noteLast = async (messages: readonly ReceivedMessage[], error: unknown): Promise<void> => {
    for (const { id, body } of messages.filter(isLast)) {
      try {
        await options.noteLastFailure?.({ queue, messageId: id, body, error });
      } catch (failure) {
        log.error("storing the error of a dead letter failed", { message: id, error: failure });
      }
    }
  };

  /** Never rejects: a message that cannot be released becomes visible after its visibility timeout. */
  const giveBack = async (messages: readonly ReceivedMessage[], seconds?: number): Promise<void> => {
    await Promise.all(
      messages.map(async (message) => {
        const wait = seconds ?? (stopping.signal.aborted || isLast(message) ? 0 : retrySeconds(message));
        try {
          await queues.changeVisibility(queue, message.receipt, wait);
        } catch (error) {
          log.warn("releasing a failed message failed", { message: message.id, error });
        }
      }),
    );
  };

  return {
    ended: poll(),
    stop: () => {
      stopping.abort();
      steps?.wake();
    },
    abort: () => {
      for (const { invocation } of running) invocation?.abort(new Error("The server is stopping"));
    },
    giveBack: () =>
      giveBack(
        [...running].flatMap((entry) => entry.messages),
        0,
      ),
  };
}

interface OutageGate {
  /** Resolves when the services respond again; undefined while they respond. */
  readonly closed: Promise<void> | undefined;
  /** Closes if they do not respond. Never rejects. */
  check(): Promise<void>;
}

function outageGate({ isUp = async () => true, log }: PollersOptions): OutageGate {
  let closed: Promise<void> | undefined;
  let checking: Promise<void> | undefined;
  let askAgainMs = ASK_AGAIN_MS;
  let openedAt = Number.NEGATIVE_INFINITY;
  const wait = async (): Promise<void> => {
    log.error("services do not respond: no messages are received until they do");
    const again = performance.now() - openedAt < SOON_AFTER_MS;
    askAgainMs = again ? Math.min(ASK_AGAIN_MAX_MS, askAgainMs * 2) : ASK_AGAIN_MS;
    do await sleep(askAgainMs, undefined, { ref: false });
    while (!(await isUp()));
    log.info("services respond again");
    openedAt = performance.now();
    closed = undefined;
  };
  const check = async (): Promise<void> => {
    if (!(await isUp())) closed ??= wait();
  };
  return {
    get closed() {
      return closed;
    },
    check: () => {
      if (closed !== undefined) return Promise.resolve();
      checking ??= check().finally(() => {
        checking = undefined;
      });
      return checking;
    },
  };
}

function retrySeconds({ receiveCount }: ReceivedMessage): number {
  return Math.min(RETRY_MAX_SECONDS, RETRY_BASE_SECONDS * 2 ** (receiveCount - 1));
}

/** Resumes one waiter each time it opens. */
function turnstile(): { opened(): Promise<void>; open(): void } {
  let waiting = Promise.withResolvers<void>();
  return {
    opened: () => waiting.promise,
    open: () => {
      waiting.resolve();
      waiting = Promise.withResolvers<void>();
    },
  };
}

/** Waits this long, or until the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
