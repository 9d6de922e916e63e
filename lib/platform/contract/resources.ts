import type { BlobUpload } from "../blobs.ts";
import type { Ports } from "../ports.ts";
import type { ReceivedMessage } from "../queues.ts";
import type { QueueResource, Resources } from "../resources.ts";
import { FIRE_QUEUE } from "../scheduler.ts";
import type { Key, TableSpec } from "../tables.ts";

/** The ports that the suite exercises, over a platform that has CONTRACT_RESOURCES. */
export interface ContractPlatform {
  readonly ports: Pick<
    Ports,
    "tables" | "queues" | "bus" | "outbox" | "blobs" | "claims" | "timers" | "scheduler"
  >;
  /** Where no gateway stands before the blob store. */
  readonly sendUpload?: (upload: BlobUpload, bytes: Uint8Array) => Promise<boolean>;
  close(): Promise<void>;
}

/** What a platform may do in another way than the rest; each is named where it is tested. */
export interface Differences {
  /** A timer of the next minutes is a message on its way, which comes also when it is cancelled or moved. */
  readonly timersCannotBeRecalled?: boolean;
  /** A FIFO queue forgets a deduplication id with its message. A defect of an emulator: SQS knows it for five minutes. */
  readonly deduplicationEndsWithDelete?: boolean;
}

/** Answers the platform that the tests of a block share; it is open while they run. */
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

/** What a platform must have been given for the suite to run on it. */
export const CONTRACT_RESOURCES: Resources = {
  tables: [{ name: ITEMS.name, indexes: ITEMS.indexes }],
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

/** Receives and deletes until `count` different messages came, or ten seconds have passed. */
export async function collect(
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

/** The single message that a receive answers; throws where there is none or more. */
export function only(messages: readonly ReceivedMessage[]): ReceivedMessage {
  const [message, ...more] = messages;
  if (message === undefined || more.length > 0)
    throw new Error(`${messages.length} messages where one was expected`);
  return message;
}
