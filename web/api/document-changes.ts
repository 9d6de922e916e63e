import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { dataOf } from "../../client/api.ts";
import { messageOf } from "../components/error-state.tsx";
import { showToast } from "../components/toasts.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { api } from "./client.ts";
import { type Document, documentPath } from "./documents.ts";

/** A change of documents, after which the lists and the tree are read again. Says so if it fails. */
export function useDocumentChange<Input = void, Output = unknown>(
  change: (input: Input) => Promise<Output>,
  onDone?: (output: Output, input: Input) => void,
): UseMutationResult<Output, Error, Input> {
  const { t } = useTranslation();
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (output, input) => onDone?.(output, input),
    onError: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["documents"] }),
        client.invalidateQueries({ queryKey: ["document"] }),
      ]),
  });
}

const pathOf = (id: string) => ({ params: { path: { id } } });

export const setFavorite = (id: string, isFavorite: boolean): Promise<unknown> =>
  isFavorite
    ? api.POST("/api/v1.0/documents/{id}/favorite", pathOf(id))
    : api.DELETE("/api/v1.0/documents/{id}/favorite", pathOf(id));
export const deleteDocument = (id: string): Promise<unknown> =>
  api.DELETE("/api/v1.0/documents/{id}", pathOf(id));
export const restoreDocument = (id: string): Promise<unknown> =>
  api.POST("/api/v1.0/documents/{id}/restore", pathOf(id));

/** Deletes a document, which Undo brings back. */
export function useDeleteDocument(
  { id, title }: Pick<Document, "id" | "title">,
  onDone?: () => void,
): UseMutationResult<unknown, Error, void> {
  const { t } = useTranslation();
  const undo = useDocumentChange(() => restoreDocument(id));
  return useDocumentChange(
    () => deleteDocument(id),
    () => {
      onDone?.();
      showToast(t("app.in_trash", { title: title ?? t("app.untitled") }), {
        label: t("app.undo"),
        run: () => undo.mutate(),
      });
    },
  );
}

/** Creates a document below another and opens it. */
export function useCreateChild(parent: string): UseMutationResult<{ readonly id: string }, Error, void> {
  const [, navigate] = useLocation();
  return useDocumentChange(
    (): Promise<{ readonly id: string }> =>
      dataOf(api.POST("/api/v1.0/documents/{id}/children", { ...pathOf(parent), body: {} })),
    ({ id }) => navigate(documentPath({ id, title: null })),
  );
}
