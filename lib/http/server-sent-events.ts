/** The content type of a stream of events. HTML Living Standard 9.2. */
export const EVENT_STREAM = "text/event-stream";

/** Response headers of a stream: proxies must not buffer it. */
export const STREAM_HEADERS: Readonly<Record<string, string>> = { "x-accel-buffering": "no" };

/** An event of a stream. Data is JSON on one line; `id` is what a client that connects again sends as `Last-Event-ID`. */
export function serverSentEvent(name: string, data: unknown, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Sets the last event id of a client without an event, which also keeps the connection open. */
export const lastEventId = (id: string): string => `id: ${id}\n\n`;

/** The time after which a client whose stream has ended connects again, milliseconds. */
export const reconnectAfter = (milliseconds: number): string => `retry: ${milliseconds}\n\n`;
