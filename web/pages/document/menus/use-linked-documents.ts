import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { dataOf, type Schemas } from "../../../../client/api.ts";
import { api } from "../../../api/client.ts";
import { messageOf } from "../../../components/error-state.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { type BlockEditor, useBlockEditor } from "../document-schema.ts";

const DOCUMENTS_MAX = 6;
const USERS_MAX = 6;
/** The service searches for users by texts of three characters and more. */
const USERS_MIN_LENGTH = 3;

type Found = Pick<Schemas["Document"], "id" | "title">;

/** The documents that match a text, best first; the last changed ones for an empty text. */
export function useFoundDocuments(query: string): {
  readonly data: readonly Found[];
  readonly isFetching: boolean;
} {
  const { data, isFetching } = useQuery({
    queryKey: ["documents", "linked", query],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<readonly Found[]> => {
      const page_size = DOCUMENTS_MAX;
      const response =
        query === ""
          ? api.GET("/api/v1.0/documents", {
              params: { query: { page_size, ordering: "-updated_at" } },
              signal,
            })
          : api.GET("/api/v1.0/documents/search", { params: { query: { q: query, page_size } }, signal });
      return ((await dataOf<unknown>(response)) as { results: readonly Found[] }).results;
    },
  });
  return { data: data ?? [], isFetching };
}

export interface Person {
  readonly id: string;
  readonly name: string;
}

/** The people who have access to a document, and other users whose name or address matches. */
export function usePeople(id: string, canViewAccesses: boolean, query: string): readonly Person[] {
  const accesses = useQuery({
    queryKey: ["document", id, "accesses"],
    enabled: canViewAccesses,
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1.0/documents/{id}/accesses", { params: { path: { id } }, signal })),
  });
  const users = useQuery({
    queryKey: ["users", query, "mentions"],
    enabled: query.length >= USERS_MIN_LENGTH,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => dataOf(api.GET("/api/v1.0/users", { params: { query: { q: query } }, signal })),
  });
  const people = new Map<string, Person>();
  const typed = query.toLowerCase();
  for (const { user } of accesses.data ?? []) {
    if (user === null || !("id" in user)) continue;
    const name = user.full_name || (user.email ?? "");
    if (`${name} ${user.email ?? ""}`.toLowerCase().includes(typed))
      people.set(user.id, { id: user.id, name });
  }
  if (query.length >= USERS_MIN_LENGTH)
    for (const user of users.data ?? [])
      people.set(user.id, { id: user.id, name: user.full_name || (user.email ?? "") });
  return [...people.values()].slice(0, USERS_MAX);
}

/** Inserts a link to a document at the cursor. */
export function insertInterlink(editor: BlockEditor, { id, title }: Found): void {
  const props = { docId: id, url: `/docs/${id}/`, title: title ?? "" };
  editor.insertInlineContent([{ type: "interlinkingLinkInline", props }, " "]);
}

/** Creates a document below this one, and inserts a link to it. */
export function useCreateChild(id: string): (title: string) => void {
  const { t } = useTranslation();
  const editor = useBlockEditor();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (title: string): Promise<Found> => {
      const body = title === "" ? {} : { title };
      const params = { path: { id } };
      return { title, ...(await dataOf(api.POST("/api/v1.0/documents/{id}/children", { params, body }))) };
    },
    onSuccess: (child) => {
      insertInterlink(editor, child);
      void client.invalidateQueries({ queryKey: ["documents"] });
    },
    onError: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`),
  }).mutate;
}
