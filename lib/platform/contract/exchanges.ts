import { ConditionalCheckFailedException, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { NoSuchKey, NotFound } from "@aws-sdk/client-s3";
import { QueueDoesNotExist } from "@aws-sdk/client-sqs";
import type { AwsClients } from "../aws/clients.ts";

/** One request to AWS and its output or error, without values that vary between recordings. */
export interface Exchange {
  readonly command: string;
  readonly input: unknown;
  readonly output?: unknown;
  readonly error?: { readonly name: string; readonly message: string; readonly [field: string]: unknown };
}

const BYTES = "$bytes";
const DATE = "$date";
/** Members whose values the service generates. */
const GENERATED_MEMBERS = new Set([
  "ClientRequestToken",
  "ReceiptHandle",
  "MessageId",
  "EventId",
  "SequenceNumber",
  "RequestId",
  "HostId",
]);
/** Longer texts are recorded as their length. */
const TEXT_CHARACTERS = 500;
const TIMES = new Set(["SentTimestamp", "ApproximateFirstReceiveTimestamp"]);
const SOME_TIME = "1800000000000";
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Members that the SDK adds, and transport metadata. */
const OMITTED_MEMBERS = new Set([
  "$metadata",
  "$fault",
  "$retryable",
  "$response",
  "message",
  "stack",
  "__type",
]);

function normalizeText(stack: string, name: string, text: string): string {
  if (GENERATED_MEMBERS.has(name)) return `some ${name}`;
  if (TIMES.has(name)) return SOME_TIME;
  if (text.length > TEXT_CHARACTERS) return `${text.length} characters`;
  return text
    .replaceAll(stack, "stack")
    .replace(UUID, "some-uuid")
    .replace(/https?:\/\/[^/]+\/(?:queue\/[^/]+\/)?\d{12}\//g, "https://sqs/");
}

/** The value as deterministic JSON. */
export function normalize(stack: string, value: unknown, name = ""): unknown {
  if (typeof value === "string") return normalizeText(stack, name, value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return { [BYTES]: Buffer.from(value).toString("base64") };
  if (value instanceof Date) return { [DATE]: Number(SOME_TIME) };
  if (Array.isArray(value)) return value.map((element: unknown) => normalize(stack, element, name));
  const members = Object.entries(value).filter(
    ([member, content]) =>
      !OMITTED_MEMBERS.has(member) && content !== undefined && typeof content !== "function",
  );
  return Object.fromEntries(
    members.map(([member, content]) => [normalizeText(stack, "", member), normalize(stack, content, member)]),
  );
}

/** The value for recorded JSON. */
function revive(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(revive);
  const members: Record<string, unknown> = { ...value };
  if (typeof members[BYTES] === "string") return new Uint8Array(Buffer.from(members[BYTES], "base64"));
  if (typeof members[DATE] === "number") return new Date(members[DATE]);
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, revive(member)]));
}

const ERRORS = {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  NoSuchKey,
  NotFound,
  QueueDoesNotExist,
};

/** The error that the SDK throws for a recorded error. */
export function toError({ name, message, ...fields }: NonNullable<Exchange["error"]>): Error {
  const options = { message, $metadata: { httpStatusCode: 400 }, ...(revive(fields) as object) };
  const known = Object.entries(ERRORS).find(([known]) => known === name)?.[1];
  return known === undefined
    ? Object.assign(new Error(message), options, { name })
    : new (known as new (fields: typeof options) => Error)(options);
}

/** Returns the recorded output, or throws the recorded error. */
export function replayExchange({ output, error }: Exchange): unknown {
  if (error !== undefined) throw toError(error);
  return { ...(revive(output) as object), $metadata: {} };
}

/** Records every request that the clients make from now on, in the order in which they start. */
export function recordRequests(clients: AwsClients, stack: string): { exchanges: Exchange[]; clear(): void } {
  let exchanges: Exchange[] = [];
  const note = async (
    command: string,
    input: unknown,
    next: () => Promise<{ output?: unknown }>,
  ): Promise<void> => {
    const begun = { command: command.replace(/Command$/, ""), input: normalize(stack, input) };
    const at = exchanges.push(begun) - 1;
    const into = exchanges;
    try {
      into[at] = { ...begun, output: normalize(stack, (await next()).output) };
    } catch (error) {
      const { name, message } = error as Error;
      const fields = normalize(stack, { ...(error as object) }) as object;
      into[at] = { ...begun, error: { ...fields, name, message: normalizeText(stack, "", message) } };
    }
  };
  for (const client of [clients.dynamodb, clients.sqs, clients.eventbridge, clients.s3]) {
    // The four clients differ only in their input types.
    const stackOf = client.middlewareStack as unknown as {
      add(
        middleware: (
          next: (args: { input: object }) => Promise<{ output: object }>,
          context: { commandName?: string },
        ) => (args: { input: object }) => Promise<{ output: object }>,
        options: { step: "initialize"; priority: "low"; name: string },
      ): void;
    };
    stackOf.add(
      (next, context) => async (args) => {
        const going = next(args);
        await note(context.commandName ?? "", args.input, () => going);
        return going;
      },
      { step: "initialize", priority: "low", name: "record" },
    );
  }
  return {
    get exchanges() {
      return exchanges;
    },
    clear: () => {
      exchanges = [];
    },
  };
}
