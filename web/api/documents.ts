import {
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useLocation } from "wouter";
import { dataOf, type Schemas } from "../../client/api.ts";
import { api } from "./client.ts";

export type Document = Schemas["Document"];

const SLUG_MAX_LENGTH = 60;
const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;

/** The address of a document's page: its id decides, its title is only to be read. */
export function documentPath({ id, title }: Pick<Document, "id" | "title">): string {
  const words =
    (title ?? "")
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return `/d/${[id, ...words].join("-").slice(0, id.length + SLUG_MAX_LENGTH)}`;
}

/** The id in the last part of such an address; undefined if it has none. */
export const documentIdOf = (name: string): string | undefined => ID.exec(name)?.[0];

/** The document of such an address. */
export function useDocument(name: string): UseQueryResult<Document> {
  const id = documentIdOf(name);
  return useQuery({
    queryKey: ["document", id],
    enabled: id !== undefined,
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1.0/documents/{id}", { params: { path: { id: id ?? "" } }, signal })),
  });
}

/** Creates a document and opens it. */
export function useCreateDocument(): UseMutationResult<{ readonly id: string }, Error, void> {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  return useMutation({
    mutationFn: () => dataOf(api.POST("/api/v1.0/documents", { body: {} })),
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: ["documents"] });
      navigate(documentPath({ id, title: null }));
    },
  });
}
