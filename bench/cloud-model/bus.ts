import { randomUUID } from "node:crypto";
import { compilePattern } from "../../lib/platform/embedded/patterns.ts";
import type { RuleResource } from "../../lib/platform/resources.ts";
import { CAPACITY, LATENCY } from "./assumptions.ts";
import type { ModelSqs } from "./queues.ts";
import { throttled, withRetries } from "./service-errors.ts";
import type { Units } from "./units.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** EventBridge repeats a delivery that a queue refuses. */
const REDELIVERY_MS = 1_000;

/** EventBridge's PutEvents, and its delivery to the queues of matching rules, one message at a time. */
export class ModelBus {
  readonly #rules: readonly {
    readonly matches: (event: Readonly<Record<string, unknown>>) => boolean;
    readonly queues: readonly string[];
  }[];
  readonly #sqs: ModelSqs;
  readonly #stack: string;
  readonly #time: VirtualTime;
  readonly #units: Units;
  entries = 0;
  /** Messages on their way to a queue. */
  underWay = 0;

  constructor(options: {
    readonly rules: readonly RuleResource[];
    readonly sqs: ModelSqs;
    readonly stack: string;
    readonly time: VirtualTime;
    readonly units: Units;
  }) {
    this.#rules = options.rules.map(({ pattern, queues }) => ({ matches: compilePattern(pattern), queues }));
    this.#sqs = options.sqs;
    this.#stack = options.stack;
    this.#time = options.time;
    this.#units = options.units;
  }

  readonly send = (command: { readonly input: object }): Promise<unknown> => {
    const { Entries = [] } = command.input as {
      readonly Entries?: readonly {
        readonly Source: string;
        readonly DetailType: string;
        readonly Detail: string;
      }[];
    };
    return withRetries(this.#time, async () => {
      await this.#time.sleep(LATENCY.bus);
      if (!this.#units.has("bus entries", CAPACITY.busEntries)) {
        this.#units.refuse("bus entries", CAPACITY.busEntries);
        throw throttled("ThrottlingException", "PutEvents");
      }
      this.#units.take("bus entries", CAPACITY.busEntries, Entries.length);
      this.entries += Entries.length;
      for (const entry of Entries) this.#publish(entry);
      return { Entries: Entries.map(() => ({ EventId: randomUUID() })) };
    });
  };

  #publish(entry: { readonly Source: string; readonly DetailType: string; readonly Detail: string }): void {
    const event = {
      version: "0",
      id: randomUUID(),
      "detail-type": entry.DetailType,
      source: entry.Source,
      account: "000000000000",
      time: new Date(this.#time.now).toISOString(),
      region: "us-east-1",
      resources: [],
      detail: JSON.parse(entry.Detail) as unknown,
    };
    const body = JSON.stringify(event);
    for (const { matches, queues } of this.#rules) {
      if (!matches(event)) continue;
      for (const queue of queues) {
        this.underWay += 1;
        this.#deliver(queue, body, LATENCY.delivery);
      }
    }
  }

  #deliver(queue: string, body: string, delayMs: number): void {
    this.#time.after(delayMs, () => {
      try {
        // The rules of the template name no group: SQS uses the message group of the target's parameters.
        this.#sqs.queue(`${this.#stack}-${queue}`).send([{ body, group: GROUP }]);
        this.underWay -= 1;
      } catch {
        this.#deliver(queue, body, REDELIVERY_MS);
      }
    });
  }
}

/** The message group of rules with a FIFO queue. */
const GROUP = "all";
