import { pathToFileURL } from "node:url";
import type { ConsumerHandler } from "../../lib/events/consumer.ts";
import { queueEvent } from "../../localstack/queue-event.ts";
import type { TemplateFunction, TemplateSource } from "../../localstack/template.ts";
import { LATENCY, PROCESSOR } from "./assumptions.ts";
import type { ModelQueue } from "./queues.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** Pause before a poller asks again when SQS has refused it. */
const REFUSED_MS = 100;

/** The containers of a function: each has its own dependencies, and handles one invocation at a time. */
export class Containers<Deps> {
  readonly #open: () => Promise<Deps>;
  readonly #idle: Deps[] = [];
  count = 0;
  invocations = 0;
  /** Milliseconds that all invocations took. */
  busyMs = 0;

  constructor(open: () => Promise<Deps>) {
    this.#open = open;
  }

  /** Invokes the function, in a container that is idle, or in a new one. */
  async invoke<Result>(
    time: VirtualTime,
    messages: number,
    run: (deps: Deps) => Promise<Result>,
  ): Promise<Result> {
    const waiting = this.#idle.pop();
    if (waiting === undefined) this.count += 1;
    const deps = waiting ?? (await this.#open());
    const from = time.now;
    this.invocations += 1;
    try {
      await time.sleep(PROCESSOR.invocation + PROCESSOR.message * messages);
      return await run(deps);
    } finally {
      this.busyMs += time.now - from;
      this.#idle.push(deps);
    }
  }
}

/** The file of a function, as a module. */
export async function handlerOf(root: string, { entry, handlerExport }: TemplateFunction): Promise<unknown> {
  const module = (await import(pathToFileURL(`${root}/${entry}`).href)) as Record<string, unknown>;
  return module[handlerExport];
}

/** Lambda's event source mapping: passes the messages of a queue to a function. */
export function pollQueue<Deps extends object>(options: {
  readonly time: VirtualTime;
  readonly queue: ModelQueue;
  readonly source: TemplateSource;
  readonly handler: ConsumerHandler;
  readonly containers: Containers<Deps>;
}): void {
  const { time, queue, source, handler, containers } = options;
  const { batchSize, concurrency, windowSeconds } = source.lambda ?? { ...source, windowSeconds: 0 };
  const { signal } = new AbortController();
  let running = 0;
  let isWaiting = false;
  const invoke = async (): Promise<void> => {
    const batch = queue.receive(batchSize);
    if (batch.length === 0) {
      // Refused, or another invocation was faster.
      if (queue.hasMessages) time.after(REFUSED_MS, poll);
      return;
    }
    running += 1;
    const event = queueEvent(
      source.queue,
      batch.map(({ id, body, sentAt, receiveCount }) => ({ id, receipt: id, body, sentAt, receiveCount })),
    );
    const failed = await containers
      .invoke(time, batch.length, (deps) => handler(event, { weft: deps, signal }))
      .then(
        (result) => new Set(result?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)),
        () => new Set(batch.map(({ id }) => id)),
      );
    await queue.settle(batch, failed);
    running -= 1;
    poll();
  };
  const poll = (): void => {
    if (isWaiting || running >= concurrency || !queue.hasMessages) return;
    isWaiting = true;
    const wait = windowSeconds > 0 && queue.depth < batchSize ? windowSeconds * 1000 : LATENCY.poll;
    time.after(wait, () => {
      isWaiting = false;
      while (running < concurrency && queue.hasMessages) {
        const before = running;
        void invoke();
        if (running === before) break;
      }
    });
  };
  queue.onMessages(poll);
}
