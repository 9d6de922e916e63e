import type { PutEventsRequestEntry } from "@aws-sdk/client-eventbridge";
import type { Bus, BusEntry, BusEnvelope } from "../bus.ts";
import { PlatformFault } from "../faults.ts";
import { checkLimit, recordValue } from "../high-water-marks.ts";
import { LIMITS } from "../limits.ts";
import { toBatches } from "./batches.ts";
import { codeOf, withFaults } from "./faults.ts";
import { type Pause, retryUntilDone } from "./retries.ts";
import type { EventBridge } from "./services.ts";

interface PreparedEntry {
  readonly entry: PutEventsRequestEntry;
  readonly bytes: number;
}

export interface AwsBus {
  readonly port: Bus;
  /** Throws `limit_exceeded` for an entry above 1 MB. */
  prepare(entries: readonly BusEntry[]): readonly PreparedEntry[];
  publish(prepared: readonly PreparedEntry[]): Promise<void>;
}

const BATCH = { count: LIMITS.busBatchEntries.value, bytes: LIMITS.busEntryBytes.value };

/** An envelope without detail: the envelope counts towards the size of an entry. */
const EMPTY: BusEnvelope = {
  version: "0",
  id: "00000000-0000-0000-0000-000000000000",
  "detail-type": "",
  source: "",
  account: "000000000000",
  time: "2000-01-01T00:00:00Z",
  region: "ap-southeast-1",
  resources: [],
  detail: {},
};

/** The bus port over EventBridge. The template names the bus after the stack. */
export function awsBus(options: {
  readonly eventbridge: EventBridge;
  readonly stack: string;
  readonly pause: Pause;
}): AwsBus {
  const { eventbridge, stack, pause } = options;

  const prepareOne = ({ source, detailType, detail }: BusEntry): PreparedEntry => {
    const text = JSON.stringify(detail);
    const around = JSON.stringify({ ...EMPTY, source, "detail-type": detailType });
    // The size includes the envelope, because the envelope must fit into a message.
    const bytes = Buffer.byteLength(around) + Buffer.byteLength(text) - "{}".length;
    checkLimit("busEntryBytes", `the event ${detailType}`, bytes);
    return { entry: { EventBusName: stack, Source: source, DetailType: detailType, Detail: text }, bytes };
  };

  const publishBatch = async (batch: readonly PreparedEntry[]): Promise<void> => {
    const { client, PutEventsCommand } = await eventbridge();
    let left = batch.map(({ entry }) => entry);
    await retryUntilDone(pause, async () => {
      const sent = left;
      const { Entries = [] } = await withFaults(() => client.send(new PutEventsCommand({ Entries: sent })));
      const refused = sent.flatMap((entry, at) => {
        const { ErrorCode, ErrorMessage } = Entries[at] ?? {};
        return ErrorCode === undefined ? [] : [{ entry, fault: entryFault(ErrorCode, ErrorMessage) }];
      });
      left = refused.map(({ entry }) => entry);
      const [first] = refused;
      if (first === undefined) return "done";
      const hopeless = refused.find(({ fault }) => fault.code === "limit_exceeded");
      if (hopeless !== undefined) throw hopeless.fault;
      return { again: first.fault, progress: left.length < sent.length };
    });
  };

  const prepare = (entries: readonly BusEntry[]) => {
    recordValue("busBatchEntries", entries.length);
    return entries.map(prepareOne);
  };
  const publish = async (prepared: readonly PreparedEntry[]): Promise<void> => {
    for (const batch of toBatches(prepared, BATCH)) await publishBatch(batch);
  };
  return { port: { publish: async (entries) => publish(prepare(entries)) }, prepare, publish };
}

/** Throws if a retry cannot succeed. */
function entryFault(code: string, message = ""): PlatformFault {
  const known = codeOf(code, message);
  if (known === undefined) throw new Error(`EventBridge rejected an event: ${code} ${message}`);
  return new PlatformFault(known, `EventBridge rejected an event: ${code} ${message}`);
}
