import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { dataOf } from "../../client/api.ts";
import { api } from "./client.ts";
import { POLL_MS, useLogChanges } from "./log-changes.ts";

/** The first part of the key of every query about notifications. */
export const NOTIFICATIONS = "notifications";

const COUNT = [NOTIFICATIONS, "count"] as const;

/** Events of documents, which others are notified of. */
const CHANGES = { source: "documents" };
/** Time after an event in which its notifications are written, milliseconds. */
const WRITTEN_AFTER_MS = 1_500;
/** Interval between reads while a stream is open, whose events do not include failed runs, milliseconds. */
const REFRESH_MS = 60_000;

/** Number of unread notifications; 0 until it is known. */
export function useUnreadCount(): number {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isLive = useLogChanges(CHANGES, () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void client.invalidateQueries({ queryKey: [NOTIFICATIONS] });
    }, WRITTEN_AFTER_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const { data } = useQuery({
    queryKey: COUNT,
    refetchInterval: isLive ? REFRESH_MS : POLL_MS,
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1.0/notifications", { params: { query: { page_size: 1 } }, signal })),
  });
  const latest = data === undefined ? undefined : (data.results[0]?.id ?? "");
  const known = useRef(latest);
  useEffect(() => {
    // The lists on screen show what is counted.
    if (known.current !== undefined && known.current !== latest)
      void client.invalidateQueries({
        queryKey: [NOTIFICATIONS],
        predicate: ({ queryKey }) => queryKey[1] !== COUNT[1],
      });
    known.current = latest;
  }, [client, latest]);
  return data?.unread_count ?? 0;
}
