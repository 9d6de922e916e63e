import { useDocumentVisibility } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import { followLog, type TailState } from "./event-tail.ts";
import type { EventFilters, EventRecord } from "./events.ts";

/** Events before the beginning of a stream that are new for a list that was read shortly before, milliseconds. */
const RECENT_MS = 10_000;
/** Time after which a stream is opened: the page is loaded first, milliseconds. */
const OPEN_AFTER_MS = 500;

/** Interval between reads while no stream is open, milliseconds. A hidden page reads nothing. */
export const POLL_MS = 20_000;

interface Listener {
  readonly onState: (state: TailState) => void;
  readonly onChange: () => void;
}

interface Stream {
  readonly listeners: Set<Listener>;
  readonly close: () => void;
  state: TailState;
}

/** The open streams by their filters: browsers allow six connections for all pages of a server. */
const streams = new Map<string, Stream>();

/**
 * Calls `onChange` when the log gets events that match. Returns whether it does: without the right to read the log, or
 * without a connection, the caller reads again from time to time. A hidden page has no connection.
 */
export function useLogChanges(filters: EventFilters, onChange: () => void, isEnabled = true): boolean {
  const isActive = useDocumentVisibility() === "visible" && isEnabled;
  const [state, setState] = useState<TailState>("off");
  const latest = useRef(onChange);
  latest.current = onChange;
  const query = new URLSearchParams(filters).toString();
  useEffect(() => {
    if (!isActive) return setState("off");
    const listener = { onState: setState, onChange: () => latest.current() };
    let stop: (() => void) | undefined;
    const timer = setTimeout(() => {
      stop = listen(query, listener);
    }, OPEN_AFTER_MS);
    return () => {
      clearTimeout(timer);
      stop?.();
    };
  }, [query, isActive]);
  return state === "live";
}

/** Returns a function that ends it. The last listener closes the stream. */
function listen(query: string, listener: Listener): () => void {
  const stream = streams.get(query) ?? openStream(query);
  stream.listeners.add(listener);
  listener.onState(stream.state);
  return () => {
    stream.listeners.delete(listener);
    if (stream.listeners.size > 0) return;
    stream.close();
    streams.delete(query);
  };
}

function openStream(query: string): Stream {
  const listeners = new Set<Listener>();
  const onState = (state: TailState): void => {
    stream.state = state;
    for (const listener of listeners) listener.onState(state);
  };
  const onEvents = (events: readonly EventRecord[]): void => {
    const start = Date.now() - RECENT_MS;
    if (events.every(({ created_at }) => Date.parse(created_at) < start)) return;
    for (const listener of listeners) listener.onChange();
  };
  const stream: Stream = { listeners, close: followLog(query, onState, onEvents), state: "connecting" };
  streams.set(query, stream);
  return stream;
}
