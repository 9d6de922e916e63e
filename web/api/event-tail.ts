import { useEffect, useRef, useState } from "react";
import type { EventFilters, EventRecord } from "./events.ts";

/** Time in which arriving events are collected for one update of the page, milliseconds. */
const COLLECT_MS = 16;
/** Time after which a stream that the server refused is opened again, milliseconds. It doubles with each refusal. */
const REOPEN_MS = 3_000;
const REOPEN_MAX_MS = 60_000;
/** Events before the first new one that the stream begins with, so that none is missed while the list is read. */
const OVERLAP = 20;
/** Events that wait at most while the page cannot be updated, such as in a hidden tab. */
const COLLECTED_MAX = 500;

export type TailState = "off" | "connecting" | "live" | "lost";

/**
 * Follows the log: calls `onEvents` with new events in their order. After a lost connection it continues after the last
 * event that arrived.
 */
export function useEventTail(
  filters: EventFilters,
  isEnabled: boolean,
  onEvents: (events: readonly EventRecord[]) => void,
): TailState {
  const [state, setState] = useState<TailState>("off");
  const handler = useRef(onEvents);
  handler.current = onEvents;
  const query = new URLSearchParams(filters).toString();
  useEffect(() => {
    if (!isEnabled) {
      setState("off");
      return;
    }
    setState("connecting");
    return followLog(query, setState, (events) => handler.current(events));
  }, [query, isEnabled]);
  return state;
}

/** Whether the user may not read the log. An event source does not say why it was refused. */
const isForbidden = async (): Promise<boolean> =>
  (await fetch("/automation/event-logs?limit=1").catch(() => undefined))?.status === 403;

/** Opens a stream, and returns a function that closes it. Without the right to read the log, it is off. */
export function followLog(
  query: string,
  onState: (state: TailState) => void,
  onEvents: (events: readonly EventRecord[]) => void,
): () => void {
  let collected: EventRecord[] = [];
  let flushing: ReturnType<typeof setTimeout> | undefined;
  let reopening: ReturnType<typeof setTimeout> | undefined;
  let lastId = "";
  let source: EventSource;
  let pause = REOPEN_MS;
  let isClosed = false;
  const flush = (): void => {
    flushing = undefined;
    const events = collected;
    collected = [];
    onEvents(events);
  };
  const reopen = async (): Promise<void> => {
    const isRefused = await isForbidden();
    if (isClosed) return;
    if (isRefused) return onState("off");
    reopening = setTimeout(open, pause);
    pause = Math.min(pause * 2, REOPEN_MAX_MS);
  };
  const open = (): void => {
    const start = lastId === "" ? `last=${OVERLAP}` : `after=${lastId}`;
    source = new EventSource(`/automation/event-logs/stream?${[query, start].filter(Boolean).join("&")}`);
    source.onopen = () => {
      pause = REOPEN_MS;
      onState("live");
    };
    source.onerror = () => {
      onState("lost");
      // The browser connects again itself, unless the response was an error.
      if (source.readyState === EventSource.CLOSED) void reopen();
    };
    source.addEventListener("event", ({ data, lastEventId }: MessageEvent<string>) => {
      lastId = lastEventId;
      collected.push(JSON.parse(data) as EventRecord);
      if (collected.length > COLLECTED_MAX) collected.shift();
      flushing ??= setTimeout(flush, COLLECT_MS);
    });
  };
  open();
  return () => {
    isClosed = true;
    clearTimeout(flushing);
    clearTimeout(reopening);
    source.close();
  };
}
