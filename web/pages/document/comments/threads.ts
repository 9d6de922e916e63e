import {
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { ApiFailure, dataOf, type Schemas } from "../../../../client/api.ts";
import { api } from "../../../api/client.ts";
import { messageOf } from "../../../components/error-state.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";

export type Thread = Schemas["Thread"];
export type Comment = Schemas["Comment"];

/** How often comments of others are read, milliseconds. New threads arrive with their marks. */
const REFETCH_MS = 10_000;

const keyOf = (id: string): readonly string[] => ["document", id, "threads"];

/** The threads of a document. Those who may not comment see none. */
export const useThreads = (id: string, canComment: boolean): UseQueryResult<readonly Thread[]> =>
  useQuery({
    queryKey: keyOf(id),
    enabled: canComment,
    refetchInterval: REFETCH_MS,
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1.0/documents/{id}/threads", { params: { path: { id } }, signal })),
  });

/** A change of the threads, after which they are read again. */
export function useThreadChange<Input = void>(
  id: string,
  change: (input: Input) => Promise<unknown>,
  onDone?: () => void,
): UseMutationResult<unknown, Error, Input> {
  const { t } = useTranslation();
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => onDone?.(),
    onError: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`),
    onSettled: () => client.invalidateQueries({ queryKey: keyOf(id) }),
  });
}

export const createThread = (id: string, body: unknown): Promise<Thread> =>
  dataOf(api.POST("/api/v1.0/documents/{id}/threads", { params: { path: { id } }, body: { body } }));
export const reply = (id: string, thread: string, body: unknown): Promise<unknown> =>
  api.POST("/api/v1.0/documents/{id}/threads/{thread}/comments", {
    params: { path: { id, thread } },
    body: { body },
  });
export const updateComment = (id: string, thread: string, comment: string, body: unknown): Promise<unknown> =>
  api.PATCH("/api/v1.0/documents/{id}/threads/{thread}/comments/{comment}", {
    params: { path: { id, thread, comment } },
    body: { body },
  });
export const deleteComment = (id: string, thread: string, comment: string): Promise<unknown> =>
  api.DELETE("/api/v1.0/documents/{id}/threads/{thread}/comments/{comment}", {
    params: { path: { id, thread, comment } },
  });
export const deleteThread = (id: string, thread: string): Promise<unknown> =>
  api.DELETE("/api/v1.0/documents/{id}/threads/{thread}", { params: { path: { id, thread } } });
export const setResolved = (id: string, thread: string, isResolved: boolean): Promise<unknown> => {
  const params = { params: { path: { id, thread } } };
  return isResolved
    ? api.POST("/api/v1.0/documents/{id}/threads/{thread}/resolve", params)
    : api.POST("/api/v1.0/documents/{id}/threads/{thread}/unresolve", params);
};

/** Adds the user's reaction, or removes it: the API does not say whose the reactions are. */
export async function toggleReaction(
  id: string,
  thread: string,
  comment: string,
  emoji: string,
): Promise<void> {
  const request = { params: { path: { id, thread, comment } }, body: { emoji } };
  const path = "/api/v1.0/documents/{id}/threads/{thread}/comments/{comment}/reactions";
  try {
    await api.POST(path, request);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 400) throw error;
    await api.DELETE(path, request);
  }
}
