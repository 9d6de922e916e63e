import {
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { dataOf, type Schemas } from "../../../../client/api.ts";
import { api } from "../../../api/client.ts";
import { messageOf } from "../../../components/error-state.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";

export type Role = Schemas["DocumentAccess"]["role"];
export type Access = Schemas["DocumentAccess"];
export type Invitation = Schemas["Invitation"];
export type AccessRequest = Schemas["AccessRequest"];

export const ROLES: readonly Role[] = ["reader", "commenter", "editor", "administrator", "owner"];

/** The most that a dialog shows of invitations and of requests: the maximum page size of the API. */
const PAGE_SIZE = 100;

const pathOf = (id: string) => ({ params: { path: { id } } });

/** The accesses of a document and its ancestors. */
export const useAccesses = (id: string): UseQueryResult<readonly Access[]> =>
  useQuery({
    queryKey: ["document", id, "accesses"],
    queryFn: ({ signal }) => dataOf(api.GET("/api/v1.0/documents/{id}/accesses", { ...pathOf(id), signal })),
  });

/** The open invitations to a document. */
export const useInvitations = (id: string, enabled: boolean): UseQueryResult<readonly Invitation[]> =>
  useQuery({
    queryKey: ["document", id, "invitations"],
    enabled,
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { page_size: PAGE_SIZE } };
      const page = await dataOf(api.GET("/api/v1.0/documents/{id}/invitations", { params, signal }));
      return page.results.filter(({ is_expired }) => !is_expired);
    },
  });

/** The access requests for a document: all for those who manage it, otherwise the caller's own. */
export const useAccessRequests = (id: string): UseQueryResult<readonly AccessRequest[]> =>
  useQuery({
    queryKey: ["document", id, "requests"],
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { page_size: PAGE_SIZE } };
      return (await dataOf(api.GET("/api/v1.0/documents/{id}/ask-for-access", { params, signal }))).results;
    },
  });

/**
 * A change of who has access to a document, after which everything about the document is read again. Who starts it shows
 * its error.
 */
export function useSharingChange<Input = void>(
  id: string,
  change: (input: Input) => Promise<unknown>,
  { onDone, onFail }: SharingHandlers<Input> = {},
): UseMutationResult<unknown, Error, Input> {
  const client = useQueryClient();
  return useMutation({
    // One after the other: the last change decides.
    scope: { id: `sharing ${id}` },
    mutationFn: change,
    onSuccess: (_, input) => onDone?.(input),
    onError: (error) => onFail?.(error),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["document", id] }),
        client.invalidateQueries({ queryKey: ["documents"] }),
      ]),
  });
}

interface SharingHandlers<Input> {
  readonly onDone?: (input: Input) => void;
  readonly onFail?: (error: Error) => void;
}

/** Removes somebody, which can be undone. */
export function useRemoval(
  id: string,
  name: string,
  { remove, restore }: { readonly remove: () => Promise<unknown>; readonly restore: () => Promise<unknown> },
): UseMutationResult<unknown, Error, void> {
  const { t } = useTranslation();
  const undo = useSharingChange(id, restore, {
    // The row is gone.
    onFail: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`),
  });
  return useSharingChange(id, remove, {
    onDone: () =>
      showToast(t("sharing.removed", { name }), { label: t("app.undo"), run: () => undo.mutate() }),
  });
}

export const addAccess = (
  id: string,
  body: { readonly user_id?: string; readonly team?: string; readonly role: Role },
): Promise<unknown> => api.POST("/api/v1.0/documents/{id}/accesses", { ...pathOf(id), body });
export const setRole = (id: string, accessId: string, role: Role): Promise<unknown> =>
  api.PATCH("/api/v1.0/documents/{id}/accesses/{accessId}", {
    params: { path: { id, accessId } },
    body: { role },
  });
export const removeAccess = (id: string, accessId: string): Promise<unknown> =>
  api.DELETE("/api/v1.0/documents/{id}/accesses/{accessId}", { params: { path: { id, accessId } } });

export const invite = (id: string, body: { readonly email: string; readonly role: Role }): Promise<unknown> =>
  api.POST("/api/v1.0/documents/{id}/invitations", { ...pathOf(id), body });
export const setInvitationRole = (id: string, invitationId: string, role: Role): Promise<unknown> =>
  api.PATCH("/api/v1.0/documents/{id}/invitations/{invitationId}", {
    params: { path: { id, invitationId } },
    body: { role },
  });
export const removeInvitation = (id: string, invitationId: string): Promise<unknown> =>
  api.DELETE("/api/v1.0/documents/{id}/invitations/{invitationId}", {
    params: { path: { id, invitationId } },
  });

export const requestAccess = (id: string, role: Exclude<Role, "owner">): Promise<unknown> =>
  api.POST("/api/v1.0/documents/{id}/ask-for-access", { ...pathOf(id), body: { role } });
export const acceptRequest = (id: string, requestId: string, role: Role): Promise<unknown> =>
  api.POST("/api/v1.0/documents/{id}/ask-for-access/{requestId}/accept", {
    params: { path: { id, requestId } },
    body: { role },
  });
export const refuseRequest = (id: string, requestId: string): Promise<unknown> =>
  api.DELETE("/api/v1.0/documents/{id}/ask-for-access/{requestId}", { params: { path: { id, requestId } } });
