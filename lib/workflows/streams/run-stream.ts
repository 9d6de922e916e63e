import { ApiError } from "../../errors.ts";
import { type EventFilters, readEventsAfter } from "../../events/log/list.ts";
import type { StreamLimits } from "../../http/event-streams.ts";
import { lastEventId, reconnectAfter, serverSentEvent } from "../../http/server-sent-events.ts";
import { isTerminal } from "../engine/history.ts";
import { type RunLogDeps, readRunLog } from "../runs/log.ts";
import { getRun, toRunRecord } from "../runs/read.ts";
import type { StoredRun } from "../runs/table.ts";
import { runLogPath, watchLog } from "../steps/run-log.ts";
import { type EventStreamDeps, RECONNECT_MS, RECORDS_AT_ONCE, removedEvent } from "./event-stream.ts";
import { WakeSignal } from "./wake-signal.ts";

/** Time between two reads of a run whose steps print all the time, milliseconds. */
const PAUSE_MS = 50;
/** Time between two reads of a run that may have changed without an event, milliseconds. */
const REFRESH_MS = 500;
/** Time that the last event of a finished run may take to arrive in the log, milliseconds. */
const LAST_EVENT_MS = 5_000;

export type RunStreamDeps = EventStreamDeps & RunLogDeps;

/** How far a client has read a run: the number of an event, and the offset in the run's log, bytes. */
export interface RunPosition {
  readonly event: number;
  readonly offset: number;
}

const POSITION = /^(\d{1,15})\.(\d{1,15})$/;
const idOf = ({ event, offset }: RunPosition): string => `${event}.${offset}`;

/** Reads the id of an event of the stream; without one, the beginning of the run. Throws `bad_request`. */
export function parseRunPosition(name: string, id: string | undefined): RunPosition {
  if (id === undefined) return { event: 0, offset: 0 };
  const [, event, offset] = POSITION.exec(id) ?? [];
  if (event === undefined)
    throw new ApiError("bad_request", `${name}: must be the id of an event of the stream`);
  return { event: Number(event), offset: Number(offset) };
}

/**
 * Streams a run: `run` with its record, at first and when it changes; `event` with each of its events in the log; `log`
 * with each further part of its log, if it is on this machine; `end` when the run has finished and everything was sent.
 */
export async function* runStream(
  deps: RunStreamDeps,
  {
    runId,
    from,
    withLog,
    limits,
  }: { runId: string; from: RunPosition; withLog: boolean; limits: StreamLimits },
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const wake = new WakeSignal();
  // Subscribed before anything is read, so that nothing in between is missed.
  const cleanup = [
    deps.eventIndex.subscribe(wake.notify),
    ...(withLog ? [watchLog(runLogPath(deps.paths, runId), wake.notify)] : []),
  ];
  const position = { event: Math.min(from.event, await deps.eventIndex.last()), offset: from.offset };
  const filters: EventFilters = { run_id: runId };
  let version: number | undefined;
  let finishedAt: number | undefined;
  try {
    yield reconnectAfter(RECONNECT_MS) + lastEventId(idOf(position));
    let sentAt = performance.now();
    while (!signal.aborted) {
      // Read before the events: those of the state that it shows are recorded by then.
      const run = await getRun(deps, runId);
      if (run.version !== version) {
        await deps.durable?.();
        yield serverSentEvent("run", toRunRecord(run));
        version = run.version;
        sentAt = performance.now();
      }
      const part = await readEventsAfter(deps, filters, { position: position.event, limit: RECORDS_AT_ONCE });
      if (part.position > position.event) await deps.durable?.();
      if (part.removed > position.event && position.event > 0) yield removedEvent(part.removed);
      for await (const records of part.records) {
        let text = "";
        for (const record of records) {
          position.event = record.id;
          text += serverSentEvent("event", record, idOf(position));
        }
        yield text;
        sentAt = performance.now();
      }
      position.event = part.position;
      const log = withLog ? await readLog(deps, runId, position.offset) : undefined;
      if (log !== undefined) {
        position.offset = log.next_offset;
        yield serverSentEvent("log", log, idOf(position));
        sentAt = performance.now();
      }
      if (part.more) continue;
      if (isTerminal(run.status) && log === undefined) {
        finishedAt ??= performance.now();
        const isComplete = await hasLastEvent(deps, run, position.event);
        if (isComplete || performance.now() - finishedAt > LAST_EVENT_MS) {
          yield serverSentEvent("end", { run_id: runId, status: run.status }, idOf(position));
          return;
        }
      }
      const idleMs = performance.now() - sentAt;
      if (idleMs >= limits.heartbeatMs) {
        yield lastEventId(idOf(position));
        sentAt = performance.now();
        continue;
      }
      if (log === undefined) await wake.wait(Math.min(limits.heartbeatMs - idleMs, REFRESH_MS), signal);
      else await pause(PAUSE_MS, signal);
    }
  } finally {
    for (const clean of cleanup) clean();
  }
}

/** The next part of a log; undefined if there is none, or if it is on the machine of a worker. */
async function readLog(deps: RunLogDeps, runId: string, offset: number) {
  const part = await readRunLog(deps, runId, { offset }).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "not_found") return undefined;
    throw error;
  });
  return part === undefined || part.log === "" ? undefined : part;
}

/** Whether the event of the run's end is among the events up to a position. */
async function hasLastEvent(deps: EventStreamDeps, run: StoredRun, position: number): Promise<boolean> {
  const filters = { run_id: run.run_id, topic: `run.${run.status}` };
  const part = await readEventsAfter(deps, filters, { position: 0, limit: 1 });
  for await (const [record] of part.records) if (record !== undefined) return record.id <= position;
  return false;
}

/** Resolves after a time in milliseconds, or when the signal is aborted. */
const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new WakeSignal().wait(milliseconds, signal);
