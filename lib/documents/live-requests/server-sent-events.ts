import { serverSentEvent as eventText } from "../../http/server-sent-events.ts";
import type { LogEntry } from "../updates/update-log.ts";

/** A position in a document's log as the id of an event. */
export interface EventPosition {
  readonly generation: number;
  readonly position: number;
}

/** Event of a document's stream. */
export const serverSentEvent = (name: string, data: unknown, at?: EventPosition): string =>
  eventText(name, data, at === undefined ? undefined : `${at.generation}.${at.position}`);

/** A line that clients ignore. */
export const HEARTBEAT = ": \n\n";

const EVENT_ID = /^(\d{1,13})\.(\d{1,13})$/;

/** Reads a `Last-Event-ID` header. Undefined if it is not the id of an event. */
export function parseEventId(id: string | undefined): EventPosition | undefined {
  const [, generation, position] = EVENT_ID.exec(id ?? "") ?? [];
  return generation === undefined
    ? undefined
    : { generation: Number(generation), position: Number(position) };
}

const events = new WeakMap<LogEntry, string>();

/** The event of a log entry. It is the same for all streams of a document. */
export function updateEvent(entry: LogEntry, generation: number): string {
  const known = events.get(entry);
  if (known !== undefined) return known;
  const { position, updates } = entry;
  const at = { generation, position };
  const event = serverSentEvent("update", { ...at, updates: updates.map(toBase64) }, at);
  events.set(entry, event);
  return event;
}

export const toBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
