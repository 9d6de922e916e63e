import type { BlobUpload } from "../blobs.ts";
import { postingsTable, textsTable } from "../full-text-tables.ts";
import type { Ports } from "../ports.ts";
import type { ReceivedMessage } from "../queues.ts";
import type { QueueResource, Resources } from "../resources.ts";
import { FIRE_QUEUE } from "../scheduler.ts";
import type { Key, TableSpec } from "../tables.ts";

/** The ports that the suite tests, over a platform that has CONTRACT_RESOURCES. */
export interface ContractPlatform {
  readonly ports: Pick<
    Ports,
    "tables" | "queues" | "bus" | "outbox" | "blobs" | "claims" | "timers" | "scheduler" | "fullText"
  >;
  /** Sends an upload if no gateway precedes the blob store. */
  readonly sendUpload?: (upload: BlobUpload, bytes: Uint8Array) => Promise<boolean>;
  close(): Promise<void>;
}

/** Permitted differences of a platform; the tests name each of them. */
export interface Differences {
  /**
   * A timer within the next minutes is already a delayed message, which is delivered even if the timer is cancelled or
   * moved.
   */
  readonly timersCannotBeRecalled?: boolean;
  /**
   * A FIFO queue forgets a deduplication id when its message is deleted. An emulator's defect: SQS keeps it for five
   * minutes.
   */
  readonly deduplicationEndsWithDelete?: boolean;
}

/** Returns the platform that the tests of a block share; it is open while they run. */
export type Subject = () => ContractPlatform["ports"];

export interface ContractItem extends Key {
  readonly status?: string;
  readonly at?: string;
  readonly n?: number;
  readonly text?: string;
  readonly bytes?: Uint8Array;
  readonly nested?: Readonly<Record<string, string | number | null | boolean | readonly string[]>>;
}

export const ITEMS: TableSpec<ContractItem> = {
  name: "contract-items",
  indexes: { byStatus: { pk: "status", sk: "at" } },
};

const queue = (name: string, more: Partial<QueueResource> = {}): QueueResource => ({
  name,
  fifo: false,
  visibilitySeconds: 30,
  retentionSeconds: 345_600,
  ...more,
});

/** The resources that a platform needs to run the suite. */
export const CONTRACT_RESOURCES: Resources = {
  tables: [ITEMS, textsTable, postingsTable].map(({ name, indexes }) => ({ name, indexes })),
  queues: [
    queue("contract-standard"),
    queue("contract-poison", { deadLetter: { queue: "contract-dead", maxReceiveCount: 2 } }),
    queue("contract-dead"),
    queue("contract-fifo", { fifo: true }),
    queue("contract-events"),
    queue("contract-commands"),
    queue("contract-everything"),
    queue(FIRE_QUEUE),
  ],
  rules: [
    { name: "contract-events", pattern: { source: ["weft.events"] }, queues: ["contract-events"] },
    {
      name: "contract-commands",
      pattern: {
        source: ["weft.commands"],
        "detail-type": ["step.requested"],
        detail: { type: ["bash", "http"] },
      },
      queues: ["contract-commands"],
    },
    {
      name: "contract-everything",
      pattern: { source: [{ prefix: "weft." }] },
      queues: ["contract-everything"],
    },
  ],
  schedules: [],
};

/** Receives and deletes until `count` distinct messages arrived, or ten seconds have passed. */
export async function receiveMessages(
  ports: ReturnType<Subject>,
  from: string,
  count: number,
): Promise<ReceivedMessage[]> {
  const messages = new Map<string, ReceivedMessage>();
  const until = Date.now() + 45_000;
  while (messages.size < count && Date.now() < until) {
    const batch = await ports.queues.receive(from, { max: 10, visibilitySeconds: 30, waitSeconds: 1 });
    for (const message of batch) messages.set(message.id, message);
    await ports.queues.delete(
      from,
      batch.map(({ receipt }) => receipt),
    );
  }
  return [...messages.values()];
}

/** The only message of a receive; throws if there are none or several. */
export function onlyMessage(messages: readonly ReceivedMessage[]): ReceivedMessage {
  const [message, ...more] = messages;
  if (message === undefined || more.length > 0)
    throw new Error(`expected one message, received ${messages.length}`);
  return message;
}
