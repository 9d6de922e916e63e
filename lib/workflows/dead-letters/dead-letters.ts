import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { LastFailure } from "../../events/consumer.ts";
import { failEvent, reviveEvent } from "../../events/log/process.ts";
import type { Listing, OrderedPageRequest } from "../../http/page.ts";
import type { BusEnvelope } from "../../platform/bus.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Change } from "../../platform/tables.ts";
import { indexPending, indexRecords } from "../lists/index-list.ts";
import type { ListDeps } from "../lists/list.ts";
import { readList } from "../lists/read-list.ts";
import { pendingWrite } from "../lists/table.ts";
import { type ConductDeps, conduct } from "../runs/conduct.ts";
import { runKey, runsTable } from "../runs/table.ts";
import { CONDUCT_QUEUE, type QueuedMessage, STEP_REQUESTED, type StepCommand } from "../steps/messages.ts";
import { deadLetterKey, deadLetterList, deadLettersTable, PRESENT, type StoredDeadLetter } from "./table.ts";

const ERROR_MAX_LENGTH = 2_000;
/** Maximum length of a body stored in its item, characters; a longer one is stored in a blob. */
const BODY_INLINE_LENGTH = 32 * 1024;

export const deadLetterRecord = z
  .object({
    id: z.string(),
    queue: z.string(),
    error: z.string(),
    body: z.string(),
    received_at: z.string(),
  })
  .meta({ id: "DeadLetter" });

type LetterDeps = Pick<Ports, "tables" | "blobs" | "clock" | "ids" | "secrets">;

type ReceiverDeps = LetterDeps & ConductDeps;

/** Stores the reason for a message's last failure; the message itself arrives through its dead-letter queue. */
export async function recordLastFailure(deps: LetterDeps, failure: LastFailure): Promise<void> {
  const message = failure.error instanceof Error ? failure.error.message : String(failure.error);
  await keepLetter(deps, failure.messageId, failure.queue, failure.body, message);
}

/** Stores a message from a dead-letter queue in the table, from which it is listed and can be redriven. */
export async function storeDeadLetter(
  deps: ReceiverDeps,
  letter: { id: string; queue: string; body: string },
): Promise<void> {
  await keepLetter(deps, letter.id, letter.queue, letter.body);
  deps.log.error("message dead-lettered", { queue: letter.queue, message: letter.id });
  const known = await deps.tables.get(deadLettersTable, deadLetterKey(letter.id));
  await tellOwner(deps, letter.queue, letter.body, known?.error ?? "");
}

async function keepLetter(
  deps: LetterDeps,
  id: string,
  queue: string,
  body: string,
  error?: string,
): Promise<void> {
  const now = new Date(deps.clock.now()).toISOString();
  const key = `dead-letters/${id}`;
  if (body.length > BODY_INLINE_LENGTH) await deps.blobs.put(key, body);
  const list_token = deps.ids.random();
  const change: Change = {
    set: {
      id,
      queue,
      ...(body.length > BODY_INLINE_LENGTH ? { body_blob: key } : { body }),
      ...(error === undefined ? {} : { error: deps.secrets.redact(error).slice(0, ERROR_MAX_LENGTH) }),
      list_token,
    },
    setIfMissing: {
      group_id: groupOf(queue, body),
      received_at: now,
      ...(error === undefined ? { error: "" } : {}),
    },
  };
  await deps.tables.write([
    { op: "update", table: deadLettersTable, key: deadLetterKey(id), change },
    pendingWrite(deadLetterList.name, id, list_token),
  ]);
}

/** Indexes new dead letters for the list. */
export async function indexDeadLetters(deps: ListDeps): Promise<void> {
  await indexPending(deps, deadLetterList);
}

/** The message group, in queues that have groups: that of its run, or of its rule. */
function groupOf(queue: string, body: string): string {
  if (queue !== CONDUCT_QUEUE) return queue;
  try {
    return (JSON.parse(body) as QueuedMessage).run_id;
  } catch {
    return "";
  }
}

async function bodyOf(deps: Pick<Ports, "blobs">, letter: StoredDeadLetter): Promise<string> {
  if (letter.body !== undefined) return letter.body;
  const bytes = letter.body_blob === undefined ? undefined : await deps.blobs.get(letter.body_blob);
  return bytes === undefined ? "" : Buffer.from(bytes).toString("utf8");
}

/**
 * Records the error of a dead event, and fails the run of a dead input or of a step that no executor could finish, so
 * that the run does not hang.
 */
async function tellOwner(deps: ReceiverDeps, queue: string, body: string, error: string): Promise<void> {
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    return;
  }
  if (queue === CONDUCT_QUEUE) {
    const { run_id } = message as QueuedMessage;
    await conduct(deps, { run_id, input: { type: "fail", error: `the run could not continue: ${error}` } });
  } else if (queue === "dispatch") {
    // Without an id: accepted events, which the sweep sends again until they are recorded.
    const { event_id } = (message as BusEnvelope<{ event_id?: string }>).detail;
    if (event_id !== undefined) await failEvent(deps, event_id, error === "" ? "dead-lettered" : error);
  } else if (isStepCommand(message)) await failStep(deps, message.detail, error);
}

function isStepCommand(
  message: unknown,
): message is BusEnvelope<StepCommand & Readonly<Record<string, unknown>>> {
  return (message as Partial<BusEnvelope> | null)?.["detail-type"] === STEP_REQUESTED;
}

/** Unless the step has a result or was dispatched again meanwhile. */
async function failStep(deps: ReceiverDeps, { run_id, request }: StepCommand, error: string): Promise<void> {
  const run = await deps.tables.get(runsTable, runKey(run_id));
  if (run?.state.frames[request.key]?.dispatch !== request.dispatch) return;
  const reason = error === "" ? "its last delivery failed" : error;
  await conduct(deps, {
    run_id,
    input: { type: "fail", error: `step ${request.step} could not be executed: ${reason}` },
  });
}

/** The dead letters, newest first unless the page says otherwise. */
export async function listDeadLetters(
  deps: Pick<Ports, "blobs"> & ListDeps,
  page: OrderedPageRequest,
): Promise<Listing<z.infer<typeof deadLetterRecord>>> {
  const { total, items } = await readList(deps, deadLetterList, [PRESENT], page);
  return { total, items: records(deps, items) };
}

async function* records(
  deps: Pick<Ports, "blobs">,
  pages: AsyncIterable<readonly StoredDeadLetter[]>,
): AsyncGenerator<z.infer<typeof deadLetterRecord>[]> {
  for await (const letters of pages) {
    for (const letter of letters) {
      const { id, queue, error, received_at } = letter;
      yield [{ id, queue, error, body: await bodyOf(deps, letter), received_at }];
    }
  }
}

/** Undefined if the body is not an event; its consumer rejects it again. */
function eventOf(body: string): string | undefined {
  try {
    const { detail } = JSON.parse(body) as Partial<BusEnvelope<{ event_id?: unknown }>>;
    return typeof detail?.event_id === "string" ? detail.event_id : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Sends a message back to its queue and deletes the dead letter. If the process dies in between, the message is
 * delivered twice, which consumers tolerate. Throws `not_found`.
 */
export async function redriveDeadLetter(
  deps: Pick<Ports, "blobs" | "queues" | "ids" | "log"> & ListDeps,
  id: string,
): Promise<StoredDeadLetter> {
  const letter = await deps.tables.get(deadLettersTable, deadLetterKey(id));
  if (letter === undefined) throw new ApiError("not_found", "Dead letter not found");
  const body = await bodyOf(deps, letter);
  if (letter.queue === "dispatch") {
    const eventId = eventOf(body);
    if (eventId !== undefined) await reviveEvent(deps, eventId);
  }
  await deps.queues.send(letter.queue, [
    { body, groupId: letter.group_id, deduplicationId: deps.ids.random() },
  ]);
  await deps.tables.write([
    { op: "delete", table: deadLettersTable, key: deadLetterKey(id) },
    pendingWrite(deadLetterList.name, id, deps.ids.random(), { gone: true }),
  ]);
  try {
    await indexRecords(deps, deadLetterList, [id]);
  } catch (error) {
    // The message was sent; the sweep corrects the count.
    deps.log.warn("the counter of a redriven dead letter could not be updated", { message: id, error });
  }
  return letter;
}
