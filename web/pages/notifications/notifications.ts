import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { NOTIFICATIONS } from "../../api/unread.ts";

const PAGE_SIZE = 50;

export type Notification = Schemas["Notification"];

interface NotificationPage {
  readonly count: number;
  readonly next: string | null;
  readonly results: readonly Notification[];
  readonly unread_count: number;
}

/** The user's notifications, latest first. */
export const useNotifications = (
  onlyUnread: boolean,
): UseInfiniteQueryResult<InfiniteData<NotificationPage>> =>
  useInfiniteQuery({
    queryKey: [NOTIFICATIONS, onlyUnread],
    queryFn: ({ pageParam: page, signal }) => {
      const query = { page, page_size: PAGE_SIZE, ...(onlyUnread ? { is_read: false } : {}) };
      return dataOf(api.GET("/api/v1.0/notifications", { params: { query }, signal }));
    },
    initialPageParam: 1,
    getNextPageParam: ({ next }, _pages, page) => (next === null ? undefined : page + 1),
  });

/** Marks one notification, or all, as read. */
export function useMarkRead(): UseMutationResult<unknown, Error, string | undefined> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string | undefined) =>
      dataOf<unknown>(
        id === undefined
          ? api.POST("/api/v1.0/notifications/read-all")
          : api.POST("/api/v1.0/notifications/{id}/read", { params: { path: { id } } }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: [NOTIFICATIONS] }),
  });
}
