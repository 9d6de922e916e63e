import type { RequestSeat } from "../../http/request-seats.ts";
import type { AwarenessHub } from "../updates/awareness-hub.ts";
import type { DocumentLog, LogEntry } from "../updates/update-log.ts";
import { type CheckAccess, type LiveAccess, watchRequest } from "./live-access.ts";
import type { LiveRequests } from "./live-requests.ts";
import { readMissing, readSince } from "./read-updates.ts";
import { HEARTBEAT, serverSentEvent, toBase64, updateEvent } from "./server-sent-events.ts";
import { TextStream } from "./text-stream.ts";

export interface StreamDeps {
  readonly liveRequests: LiveRequests;
  readonly awarenessHub: AwarenessHub;
}

/** Time after which a client connects again, milliseconds. */
const RETRY_MS = 500;

export interface UpdateStreamOptions {
  /** Opened; the stream closes it. */
  readonly log: DocumentLog;
  readonly seat: RequestSeat;
  readonly access: LiveAccess;
  readonly check: CheckAccess;
  /** What the client already has. */
  readonly position: number | undefined;
  readonly stateVector: string | undefined;
}

/**
 * Streams a document's log as server-sent events: `permissions`; `sync`, or the entries after the client's position;
 * then each entry as `update`, and changes of cursors as `awareness`. Ends with `permissions` when the caller may no longer read the document, and with `end`
 * when the content was replaced. Throws `precondition_failed`, `bad_request`.
 */
export async function openUpdateStream(
  { liveRequests: requests, awarenessHub: hub }: StreamDeps,
  { log, seat, access, check, position, stateVector }: UpdateStreamOptions,
): Promise<TextStream> {
  const { limits, unsent } = requests;
  const { generation } = log;
  const cleanup: (() => void)[] = [() => seat.release(), () => log.close()];
  const stream = new TextStream({
    max: limits.unsent,
    totalMax: limits.unsentTotal,
    unsent,
    onEnd: () => {
      for (const clean of cleanup) clean();
    },
  });
  /** Position of the last event; undefined until the first one. */
  let sent: number | undefined;
  const early: LogEntry[] = [];
  const send = (entry: LogEntry): void => {
    if (sent === undefined) early.push(entry);
    else if (entry.position > sent) {
      sent = entry.position;
      stream.push(updateEvent(entry, generation));
    }
  };
  const onEnd = (): void => {
    stream.push(serverSentEvent("end", { generation }));
    stream.end();
  };
  // Subscribed before the log is read, so that nothing in between is missed.
  cleanup.push(log.subscribe({ onEntry: send, onEnd }));
  try {
    const resumed = position === undefined ? undefined : await readSince(log, position);
    const missing = resumed ?? (await readMissing(log, stateVector));
    stream.pushRequested(`retry: ${RETRY_MS}\n\n${permissionsEvent(access)}`);
    const at = { generation, position: missing.position };
    if (resumed === undefined) stream.pushRequested(serverSentEvent("sync", missing, at));
    else if (resumed.updates.length > 0) stream.pushRequested(serverSentEvent("update", resumed, at));
    sent = missing.position;
    for (const entry of early) send(entry);
    await hub.load(log.document);
    const present = hub.current(log.document);
    if (present !== undefined) stream.push(awarenessEvent(present));
  } catch (error) {
    await stream.return();
    throw error;
  }
  const stop = (): void => stream.end();
  const heartbeat = setInterval(() => stream.push(HEARTBEAT), limits.heartbeatMs).unref();
  const lifetime = setTimeout(stop, limits.streamMs).unref();
  const unwatch = watchRequest(requests.access, {
    document: log.document,
    access,
    check,
    onChange: (changed) => {
      stream.push(permissionsEvent(changed));
      if (changed === undefined) stream.end();
    },
  });
  seat.stopping.addEventListener("abort", stop);
  const leave = hub.subscribe(log.document, (update) => stream.push(awarenessEvent(update)));
  const end = (): void => {
    leave();
    clearInterval(heartbeat);
    clearTimeout(lifetime);
    unwatch();
    seat.stopping.removeEventListener("abort", stop);
  };
  if (stream.hasEnded) end();
  else cleanup.push(end);
  if (seat.stopping.aborted) stop();
  return stream;
}

const awarenessEvent = (update: Uint8Array): string =>
  serverSentEvent("awareness", { update: toBase64(update) });

const permissionsEvent = (access: LiveAccess | undefined): string =>
  serverSentEvent("permissions", {
    content_retrieve: access !== undefined,
    content_patch: access?.canEdit === true,
  });
