import { ApiError } from "../../errors.ts";
import { type EventFilters, type LogDeps, positionOfLast, readEventsAfter } from "../../events/log/list.ts";
import type { StreamLimits } from "../../http/event-streams.ts";
import { lastEventId, reconnectAfter, serverSentEvent } from "../../http/server-sent-events.ts";
import { WakeSignal } from "./wake-signal.ts";

/** Time after which a client whose stream has ended connects again, milliseconds. */
export const RECONNECT_MS = 500;
/** Records that are read at once. */
export const RECORDS_AT_ONCE = 200;
/** Records that a stream can begin with. */
export const LAST_MAX = 1_000;

const POSITION = /^\d{1,15}$/;

export type EventStreamDeps = LogDeps & {
  /** Resolves when everything written is on disk, where writes resolve earlier. */
  readonly durable?: (() => Promise<void>) | undefined;
};

/** Where a stream begins: after a record, or with the last records. */
export interface StreamStart {
  /** The `Last-Event-ID` of a client that connects again. */
  readonly lastEventId?: string | undefined;
  readonly after?: string | undefined;
  readonly last?: number | undefined;
}

/**
 * The position of the log after which a stream begins; by default its end. Throws `bad_request` for an id that is not
 * one of the stream's.
 */
export async function startPosition(
  deps: LogDeps,
  filters: EventFilters,
  { lastEventId: resumed, after, last = 0 }: StreamStart,
): Promise<number> {
  const [name, text] = resumed === undefined ? ["query.after", after] : ["Last-Event-ID", resumed];
  if (text === undefined) return positionOfLast(deps, filters, last);
  if (!POSITION.test(text))
    throw new ApiError("bad_request", `${name}: must be the id of an event of the stream`);
  // After a restore of an older backup, the log may be shorter than what the client has read.
  return Math.min(Number(text), await deps.eventIndex.last());
}

/**
 * Streams the records of the log after a position that match the filters, in the order of their numbers: `event` with
 * the record, whose number is the id; `removed` if records that the client has not received are no longer stored. The
 * log is read while the client reads the stream, so a slow client receives everything, later.
 */
export async function* eventStream(
  deps: EventStreamDeps,
  { filters, from, limits }: { filters: EventFilters; from: number; limits: StreamLimits },
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const wake = new WakeSignal();
  // Subscribed before the log is read, so that nothing in between is missed.
  const unsubscribe = deps.eventIndex.subscribe(wake.notify);
  let position = from;
  try {
    yield reconnectAfter(RECONNECT_MS) + lastEventId(String(position));
    let sentAt = performance.now();
    while (!signal.aborted) {
      const part = await readEventsAfter(deps, filters, { position, limit: RECORDS_AT_ONCE });
      // A record that a crash of the machine could undo must not be sent: another would get its number.
      if (part.position > position) await deps.durable?.();
      if (part.removed > position) yield removedEvent(part.removed);
      for await (const records of part.records) {
        yield records.map((record) => serverSentEvent("event", record, String(record.id))).join("");
        sentAt = performance.now();
      }
      position = part.position;
      if (part.more) continue;
      const idleMs = performance.now() - sentAt;
      if (idleMs >= limits.heartbeatMs) {
        yield lastEventId(String(position));
        sentAt = performance.now();
      } else await wake.wait(Math.min(limits.heartbeatMs - idleMs, limits.refreshMs ?? Infinity), signal);
    }
  } finally {
    unsubscribe();
  }
}

/** Records up to a number are no longer stored. */
export const removedEvent = (upTo: number): string => serverSentEvent("removed", { up_to: upTo });
