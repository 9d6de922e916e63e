import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { type TailState, useEventTail } from "../../api/event-tail.ts";
import { EVENTS, type EventFilters, type EventRecord } from "../../api/events.ts";

/** New events that are shown above the list until it is read again. */
const SHOWN_MAX = 200;
/** Time after which the list is read again when events have arrived, so that their states are current, milliseconds. */
const REFRESH_MS = 1_500;

/** The first page of the log with what has arrived since. */
export interface LiveEvents {
  readonly state: TailState;
  readonly rows: readonly EventRecord[];
  /** Events that have arrived since the list was read. */
  readonly added: number;
  /** Events that wait until the user wants to see them. */
  readonly waiting: number;
  readonly isPaused: boolean;
  readonly setPaused: (isPaused: boolean) => void;
  /** Shows the events that wait, at the top. */
  readonly show: () => void;
}

interface Options {
  readonly filters: EventFilters;
  readonly isEnabled: boolean;
  /** The page as it was read; undefined until then. */
  readonly listed: readonly EventRecord[] | undefined;
}

interface Arrived {
  readonly shown: readonly EventRecord[];
  readonly waiting: readonly EventRecord[];
}
const NONE: Arrived = { shown: [], waiting: [] };

/**
 * Whether rows may move: the beginning of the list is in sight, and neither the pointer nor the focus is on a row.
 */
const mayMove = (): boolean =>
  window.scrollY <= 0 && document.querySelector("tbody tr:hover, tbody tr:focus-within") === null;

/**
 * Follows the log. A new event is shown at once if no row moves that the user looks at; otherwise it waits, and the
 * page says how many do.
 */
export function useLiveEvents({ filters, isEnabled, listed = [] }: Options): LiveEvents {
  const client = useQueryClient();
  const [arrived, setArrived] = useState<Arrived>(NONE);
  const [isPaused, setPaused] = useState(false);
  const known = useRef<ReadonlySet<string>>(new Set());
  known.current = useMemo(() => new Set(listed.map(({ event_id }) => event_id)), [listed]);
  const state = useEventTail(filters, isEnabled, (events) => {
    const fresh = events.filter(({ event_id }) => !known.current.has(event_id)).reverse();
    if (fresh.length === 0) return;
    const isWaiting = isPaused || !mayMove();
    setArrived((before) => {
      const all = [...before.shown, ...before.waiting].map(({ event_id }) => event_id);
      const added = fresh.filter(({ event_id }) => !all.includes(event_id));
      return isWaiting
        ? { ...before, waiting: [...added, ...before.waiting] }
        : { shown: [...added, ...before.waiting, ...before.shown].slice(0, SHOWN_MAX), waiting: [] };
    });
  });
  const key = JSON.stringify([filters, isEnabled]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters are another list
  useEffect(() => setArrived(NONE), [key]);
  const unread = useMemo(() => withoutListed(arrived, listed), [arrived, listed]);
  const hasShown = isEnabled && unread.shown.length > 0;
  useEffect(() => {
    if (!hasShown || unread.waiting.length > 0) return;
    const timer = setTimeout(() => void client.invalidateQueries({ queryKey: [EVENTS] }), REFRESH_MS);
    return () => clearTimeout(timer);
  }, [client, hasShown, unread.waiting.length]);
  return {
    state,
    rows: isEnabled ? [...unread.shown, ...listed] : listed,
    added: isEnabled ? unread.shown.length + unread.waiting.length : 0,
    waiting: unread.waiting.length,
    isPaused,
    setPaused,
    show: () => {
      setPaused(false);
      setArrived({ shown: [...unread.waiting, ...unread.shown].slice(0, SHOWN_MAX), waiting: [] });
      window.scrollTo(0, 0);
    },
  };
}

/** The events that the list does not contain yet. */
function withoutListed({ shown, waiting }: Arrived, listed: readonly EventRecord[]): Arrived {
  const ids = new Set(listed.map(({ event_id }) => event_id));
  const isUnread = ({ event_id }: EventRecord): boolean => !ids.has(event_id);
  return { shown: shown.filter(isUnread), waiting: waiting.filter(isUnread) };
}
