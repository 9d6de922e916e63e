import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, ErrorResponse, NoResponse } from "./connection.ts";

/** Time before a connection is opened again, milliseconds. */
const RECONNECT_MS = 500;
/** Time without data after which a connection is considered broken, milliseconds: the server sends some every 15 s. */
const IDLE_MAX_MS = 45_000;
/** The server is starting, stopping or busy. */
const TEMPORARY_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** A server-sent event; data is JSON. */
export interface StreamEvent {
  readonly name: string;
  readonly data: unknown;
}

export interface StreamOptions {
  /** Ends the stream when it is aborted. */
  readonly signal?: AbortSignal;
  /** Called once for each time that the connection is lost, with the reason. */
  readonly onLost?: (error: Error) => void;
}

/**
 * The events of a stream, which never ends by itself: a connection that ends or breaks is opened again after the last
 * event. Throws ErrorResponse, and NoResponse if the first connection fails.
 */
export async function* readStream(
  connection: Connection,
  path: string,
  { signal, onLost = () => {} }: StreamOptions = {},
): AsyncGenerator<StreamEvent, void> {
  let lastId: string | undefined;
  let isConnected = false;
  let isLost = false;
  const isEnded = (): boolean => signal?.aborted === true;
  while (!isEnded()) {
    const idle = new AbortController();
    const timer = setTimeout(() => idle.abort(), IDLE_MAX_MS);
    try {
      const response = await connection.open(path, {
        accept: "text/event-stream",
        headers: lastId === undefined ? {} : { "last-event-id": lastId },
        signal: signal === undefined ? idle.signal : AbortSignal.any([signal, idle.signal]),
      });
      isConnected = true;
      isLost = false;
      for await (const block of readBlocks(response, () => timer.refresh())) {
        lastId = block.get("id") ?? lastId;
        const data = block.get("data");
        if (data !== undefined) yield { name: block.get("event") ?? "message", data: JSON.parse(data) };
      }
    } catch (error) {
      if (isEnded()) return;
      if (!isConnected || !isTemporary(error)) throw error;
      if (!isLost) onLost(error);
      isLost = true;
    } finally {
      clearTimeout(timer);
    }
    await sleep(RECONNECT_MS, undefined, { signal }).catch(() => {});
  }
}

/** Whether the same request may succeed later; a connection that breaks throws a TypeError or an AbortError. */
const isTemporary = (error: unknown): error is Error =>
  error instanceof ErrorResponse
    ? TEMPORARY_STATUSES.has(error.status)
    : error instanceof NoResponse ||
      (error instanceof Error && ["TypeError", "AbortError", "TimeoutError"].includes(error.name));

/** The fields of each block of a response. HTML Living Standard 9.2.6, for what Weft sends: one line per field. */
async function* readBlocks(
  response: Response,
  onData: () => void,
): AsyncGenerator<ReadonlyMap<string, string>> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    onData();
    text += decoder.decode(bytes, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks)
      yield new Map(block.split("\n").map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
  }
}
