import type { OutgoingHttpHeaders } from "node:http";

/** `tables` is DynamoDB, `rest` the other services. */
export type Side = "tables" | "rest";

/** One request to an AWS service. */
export interface Call {
  readonly side: Side;
  /** The operation (`PutItem`, `SendMessageBatch`); for S3 the HTTP method (`PUT`). */
  readonly operation: string;
  /** The parsed body; undefined for S3. */
  readonly input: Readonly<Record<string, unknown>> | undefined;
}

/** Response of a service. */
export interface Reply {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

type Forward = (input?: Call["input"]) => Promise<Reply>;
type Entries = readonly Readonly<Record<string, unknown>>[];

const JSON_TYPE = "application/x-amz-json-1.0";

function json(status: number, body: unknown): Reply {
  return { status, headers: { "content-type": JSON_TYPE }, body: Buffer.from(JSON.stringify(body)) };
}

const textOf = (call: Call, name: string): string => String(call.input?.[name] ?? "");

/** The throttling error of the service. */
export function rejection(call: Call): Reply {
  if (call.input === undefined) {
    const body = Buffer.from(
      "<Error><Code>SlowDown</Code><Message>Reduce your request rate</Message></Error>",
    );
    return { status: 503, headers: { "content-type": "application/xml" }, body };
  }
  if (call.side === "rest")
    return json(400, { __type: "com.amazonaws.sqs#RequestThrottled", message: "too many requests" });
  if (call.operation === "TransactWriteItems") {
    const { TransactItems } = call.input as { TransactItems: Entries };
    return json(400, {
      __type: "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
      Message: "Transaction cancelled",
      CancellationReasons: TransactItems.map((_, at) => ({ Code: at === 0 ? "ThrottlingError" : "None" })),
    });
  }
  const name = call.operation.startsWith("Get")
    ? "ThrottlingException"
    : "ProvisionedThroughputExceededException";
  return json(400, { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "slow down" });
}

/** Throttles every other entry of a batch and forwards the rest. Returns `undefined` if the call is not a batch. */
export async function throttleHalf(call: Call, forward: Forward): Promise<Reply | undefined> {
  const { operation, input } = call;
  if (operation === "PutEvents") {
    const entries = (input as { Entries: Entries }).Entries;
    const [done, refused] = halves(entries);
    const answers =
      done.length === 0
        ? []
        : parsed<{ Entries: Entries }>(await forward({ ...input, Entries: done })).Entries;
    const failed = { ErrorCode: "ThrottlingException", ErrorMessage: "slow down" };
    const Entries = entries.map((entry) => (refused.includes(entry) ? failed : answers[done.indexOf(entry)]));
    return json(200, { FailedEntryCount: refused.length, Entries });
  }
  if (operation === "SendMessageBatch" || operation === "DeleteMessageBatch") {
    const [done, refused] = halves((input as { Entries: Entries }).Entries);
    const answer =
      done.length === 0
        ? {}
        : parsed<{ Successful?: Entries; Failed?: Entries }>(await forward({ ...input, Entries: done }));
    const failed = refused.map(({ Id }) => ({
      Id,
      SenderFault: false,
      Code: "ThrottlingException",
      Message: "slow down",
    }));
    return json(200, { Successful: answer.Successful ?? [], Failed: [...(answer.Failed ?? []), ...failed] });
  }
  if (operation === "BatchGetItem") {
    const [[table, wanted] = ["", { Keys: [] }]] = Object.entries(
      (input as { RequestItems: Record<string, { Keys: Entries }> }).RequestItems,
    );
    const [done, refused] = halves(wanted.Keys);
    const left = { [table]: { ...wanted, Keys: refused } };
    if (done.length === 0) return json(200, { Responses: {}, UnprocessedKeys: left });
    const answer = parsed<object>(await forward({ RequestItems: { [table]: { ...wanted, Keys: done } } }));
    return json(200, { ...answer, UnprocessedKeys: left });
  }
  return undefined;
}

/** Splits entries into forwarded ones (odd indexes) and throttled ones (even indexes). */
function halves(entries: Entries): [Entries, Entries] {
  return [entries.filter((_, at) => at % 2 === 1), entries.filter((_, at) => at % 2 === 0)];
}

const parsed = <Body>(reply: Reply): Body => JSON.parse(reply.body.toString()) as Body;

/** Longest visibility timeout of worker queues, whose messages must outlast a step's lease. Other queues exceed it. */
const WORKER_SECONDS = 60;
const HIDDEN_SECONDS = 6;
const HIDDEN_WORKER_SECONDS = 33;

/** Returns the input with a shorter `VisibilityTimeout` if the call is `ReceiveMessage`, else the input itself. */
export function shortenVisibility(call: Call): Call["input"] {
  const { operation, input } = call;
  if (operation !== "ReceiveMessage" || input === undefined) return input;
  const asked = Number(input.VisibilityTimeout);
  const VisibilityTimeout = Math.min(asked, asked <= WORKER_SECONDS ? HIDDEN_WORKER_SECONDS : HIDDEN_SECONDS);
  return { ...input, VisibilityTimeout };
}

/** Delivers messages of standard queues a second time with the next response of their queue, even if deleted. */
export function answersTwice(): (call: Call, reply: Reply, again: () => boolean) => Reply {
  const kept = new Map<string, Entries>();
  return (call, reply, again) => {
    const queue = textOf(call, "QueueUrl");
    if (call.operation !== "ReceiveMessage" || queue.endsWith(".fifo") || reply.status !== 200) return reply;
    const answer = parsed<{ Messages?: Entries }>(reply);
    const messages = answer.Messages ?? [];
    const room = Number(call.input?.MaxNumberOfMessages ?? 1) - messages.length;
    const before = kept.get(queue) ?? [];
    const now = before.slice(0, Math.max(0, room));
    kept.set(queue, [...before.slice(now.length), ...messages.filter(again)]);
    return now.length === 0 ? reply : json(200, { ...answer, Messages: [...messages, ...now] });
  };
}
