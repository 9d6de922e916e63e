import * as z from "zod";
import type { LastFailure } from "../../events/consumer.ts";
import { failEvent } from "../../events/log/process.ts";
import { eventKey, eventLogTable } from "../../events/log/table.ts";
import { ApiError } from "../../errors.ts";
import type { BusEnvelope } from "../../platform/bus.ts";
import type { Ports } from "../../platform/ports.ts";
import { scanList } from "../lists/scan.ts";
import { conduct, type ConductDeps, type ConductMessage } from "../runs/conduct.ts";
import { CONDUCT_QUEUE } from "../runs/create.ts";
import { DEAD_LETTER_LIST, deadLetterKey, deadLettersTable, type StoredDeadLetter } from "./table.ts";

const ERROR_MAX_LENGTH = 2_000;
/** Body of a dead letter kept in its item, characters. */
const BODY_MAX_LENGTH = 256 * 1024;

export const deadLetterRecord = z
  .object({
    id: z.string(),
    queue: z.string(),
    error: z.string(),
    body: z.string(),
    received_at: z.string(),
  })
  .meta({ id: "DeadLetter" });

type LetterDeps = Pick<Ports, "tables" | "clock" | "secrets">;

/** Keeps the reason why a message fails for the last time; the letter itself follows through its queue. */
export async function noteLastFailure(deps: LetterDeps, failure: LastFailure): Promise<void> {
  const message = failure.error instanceof Error ? failure.error.message : String(failure.error);
  await keepLetter(deps, failure.messageId, failure.queue, failure.body, message);
}

/** Takes a message from a dead-letter queue into the table, where it is seen and can be redriven. */
export async function receiveLetter(
  deps: LetterDeps & ConductDeps,
  letter: { id: string; queue: string; body: string },
): Promise<void> {
  await keepLetter(deps, letter.id, letter.queue, letter.body);
  deps.log.error("message dead-lettered", { queue: letter.queue, message: letter.id });
  const known = await deps.tables.get(deadLettersTable, deadLetterKey(letter.id));
  await tellOwner(deps, letter.queue, letter.body, known?.error ?? "");
}

async function keepLetter(deps: LetterDeps, id: string, queue: string, body: string, error?: string): Promise<void> {
  const now = new Date(deps.clock.now()).toISOString();
  await deps.tables.update(deadLettersTable, deadLetterKey(id), {
    set: {
      id,
      queue,
      body: body.slice(0, BODY_MAX_LENGTH),
      list: DEAD_LETTER_LIST,
      ...(error === undefined ? {} : { error: deps.secrets.redact(error).slice(0, ERROR_MAX_LENGTH) }),
    },
    setIfMissing: { group_id: groupOf(queue, body), received_at: now, ...(error === undefined ? { error: "" } : {}) },
  });
}

function groupOf(queue: string, body: string): string {
  if (queue !== CONDUCT_QUEUE) return "";
  try {
    return (JSON.parse(body) as ConductMessage).run_id;
  } catch {
    return "";
  }
}

/** A dead event has its error noted, a dead input of a run fails the run: neither hangs without a word. */
async function tellOwner(deps: LetterDeps & ConductDeps, queue: string, body: string, error: string): Promise<void> {
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    return;
  }
  if (queue === CONDUCT_QUEUE) {
    const { run_id } = message as ConductMessage;
    await conduct(deps, { run_id, input: { type: "fail", error: `the run could not go on: ${error}` } });
  } else if (queue === "dispatch") {
    const { detail } = message as BusEnvelope<{ event_id: string }>;
    await failEvent(deps, detail.event_id, error === "" ? "dead-lettered" : error);
  }
}

/** Messages given up, newest first. */
export async function listLetters(
  deps: Pick<Ports, "tables">,
  page: { offset: number; limit: number },
): Promise<{ total: number; items: AsyncIterable<z.infer<typeof deadLetterRecord>[]> }> {
  const found = await scanList(deps, deadLettersTable, DEAD_LETTER_LIST, () => true, page);
  return { total: found.total, items: records(found.items) };
}

async function* records(letters: readonly StoredDeadLetter[]): AsyncGenerator<z.infer<typeof deadLetterRecord>[]> {
  yield letters.map(({ id, queue, error, body, received_at }) => ({ id, queue, error, body, received_at }));
}

/**
 * Puts a message back into the queue that it came from and takes the letter away. Were the process to die in
 * between, the message is there twice, which its consumer bears. Throws `not_found`.
 */
export async function redrive(deps: Pick<Ports, "tables" | "queues" | "ids" | "clock">, id: string): Promise<StoredDeadLetter> {
  const letter = await deps.tables.get(deadLettersTable, deadLetterKey(id));
  if (letter === undefined) throw new ApiError("not_found", "Dead letter not found");
  const fifo = letter.queue === CONDUCT_QUEUE;
  if (letter.queue === "dispatch") await reviveEvent(deps, letter.body);
  await deps.queues.send(letter.queue, [
    { body: letter.body, ...(fifo ? { groupId: letter.group_id, deduplicationId: deps.ids.random() } : {}) },
  ]);
  await deps.tables.write([{ op: "delete", table: deadLettersTable, key: deadLetterKey(id) }]);
  return letter;
}

/** The event is looked after by the sweep again. */
async function reviveEvent(deps: Pick<Ports, "tables" | "clock">, body: string): Promise<void> {
  const { detail } = JSON.parse(body) as BusEnvelope<{ event_id: string }>;
  await deps.tables.update(
    eventLogTable,
    eventKey(detail.event_id),
    { set: { error: "", pending: "1", resend_at: new Date(deps.clock.now()).toISOString() } },
    [["processed", "=", false]],
  );
}
