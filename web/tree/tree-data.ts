import { useQueries, useQuery } from "@tanstack/react-query";
import { dataOf } from "../../client/api.ts";
import { api } from "../api/client.ts";
import type { Document } from "../api/documents.ts";
import { pathTo, TOP, type TreeLevel, type TreeNode } from "./tree-rows.ts";

const PAGE_SIZE = 100;
/** A tree that is shown all the time reads again when something changes, not when it is looked at. */
const STALE_MS = 60_000;

/** How many pages of a level are loaded, by the id of its parent. */
export type LoadedPages = ReadonlyMap<string, number>;

/* The service has no manual order of the top level: the titles are one that does not change by edits. */
const readPage = (parent: string, page: number, signal: AbortSignal) =>
  parent === TOP
    ? dataOf(
        api.GET("/api/v1.0/documents", {
          params: { query: { page, page_size: PAGE_SIZE, ordering: "title" } },
          signal,
        }),
      )
    : dataOf(
        api.GET("/api/v1.0/documents/{id}/children", {
          params: { path: { id: parent }, query: { page, page_size: PAGE_SIZE } },
          signal,
        }),
      );

/** The loaded levels by the ids of their parents. */
export function useLevels(loaded: LoadedPages): ReadonlyMap<string, TreeLevel> {
  const wanted = [...loaded].flatMap(([parent, pages]) =>
    Array.from({ length: pages }, (_, index) => ({ parent, page: index + 1 })),
  );
  const results = useQueries({
    queries: wanted.map(({ parent, page }) => ({
      queryKey: ["documents", "tree", parent, page],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => readPage(parent, page, signal),
      staleTime: STALE_MS,
    })),
  });
  const levels = new Map<string, TreeLevel>();
  for (const [index, { data, isPending }] of results.entries()) {
    const parent = wanted[index]?.parent ?? TOP;
    const before = levels.get(parent);
    levels.set(parent, {
      documents: [...(before?.documents ?? []), ...(data?.results ?? [])],
      count: data?.count ?? before?.count ?? 0,
      isPending: isPending || before?.isPending === true,
    });
  }
  return levels;
}

/** The documents from the top of the tree to the open one; empty if none is open. */
export function usePath(id: string | undefined): readonly Document[] {
  const path = useQuery({
    queryKey: ["documents", "path", id],
    enabled: id !== undefined,
    staleTime: STALE_MS,
    queryFn: async ({ signal }) => {
      const tree = await dataOf(
        api.GET("/api/v1.0/documents/{id}/tree", { params: { path: { id: id ?? "" } }, signal }),
      );
      return pathTo(tree as TreeNode, id ?? "");
    },
  });
  return path.data ?? [];
}

const FAVORITES_MAX = 20;

/** The favorites that were edited last. */
export const useFavorites = (): readonly Document[] =>
  useQuery({
    queryKey: ["documents", "side-favorites"],
    staleTime: STALE_MS,
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1.0/documents/favorite_list", {
          params: { query: { page_size: FAVORITES_MAX } },
          signal,
        }),
      ),
  }).data?.results ?? [];
