import {
  type InfiniteData,
  keepPreviousData,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useMemo } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import type { Document } from "../../api/documents.ts";
import { POLL_MS, useLogChanges } from "../../api/log-changes.ts";
import { createRefresher } from "../../api/refresher.ts";

/** Events of documents: created, edited, moved, shared, deleted. */
const CHANGES = { source: "documents" };

const PAGE_SIZE = 50;
/** Pause between two reads, however much happens, milliseconds. */
const PAUSE_MS = 2_000;

/** Orders that the service has an index for. */
export const ORDERINGS = [
  "-updated_at",
  "updated_at",
  "title",
  "-title",
  "-created_at",
  "created_at",
] as const;
export type Ordering = (typeof ORDERINGS)[number];

interface DocumentsPage {
  readonly count: number;
  readonly next: string | null;
  readonly results: readonly Document[];
}

interface Query {
  readonly page: number;
  readonly page_size: number;
  readonly q?: string;
  readonly ordering?: Ordering;
}

interface List {
  /** Whether the list can be filtered by title. */
  readonly canFilter: boolean;
  /** Whether the list can be sorted. */
  readonly canSort: boolean;
  load(query: Query, signal: AbortSignal): Promise<DocumentsPage>;
}

/** Lists all documents, or those with certain properties. */
const documentsWith = (properties: { readonly is_creator_me?: boolean }): List => ({
  canFilter: true,
  canSort: true,
  load: (query, signal) =>
    dataOf(api.GET("/api/v1.0/documents", { params: { query: { ...query, ...properties } }, signal })),
});

/** The lists of documents, in the order of their tabs. */
export const LISTS = {
  all: documentsWith({}),
  mine: documentsWith({ is_creator_me: true }),
  shared: documentsWith({ is_creator_me: false }),
  favorites: {
    canFilter: false,
    canSort: false,
    load: ({ page, page_size }, signal) =>
      dataOf(
        api.GET("/api/v1.0/documents/favorite_list", { params: { query: { page, page_size } }, signal }),
      ),
  },
  trash: {
    canFilter: false,
    canSort: false,
    load: ({ page, page_size }, signal) =>
      dataOf(api.GET("/api/v1.0/documents/trashbin", { params: { query: { page, page_size } }, signal })),
  },
} as const satisfies Record<string, List>;

export type ListName = keyof typeof LISTS;

/** How the pages of a list are read. */
export const documentsQuery = (list: ListName, q = "", ordering?: Ordering) => ({
  queryKey: ["documents", list, q, ordering],
  queryFn: ({ pageParam, signal }: { pageParam: number; signal: AbortSignal }): Promise<DocumentsPage> => {
    const query = {
      page: pageParam,
      page_size: PAGE_SIZE,
      ...(q === "" ? {} : { q }),
      ...(ordering === undefined ? {} : { ordering }),
    };
    return LISTS[list].load(query, signal);
  },
  initialPageParam: 1,
  getNextPageParam: ({ next }: DocumentsPage, _pages: unknown, page: number) =>
    next === null ? undefined : page + 1,
});

/** The pages of a list that were loaded so far. A filter keeps the previous result until the next one arrives. */
export function useDocuments(
  list: ListName,
  q: string,
  ordering: Ordering | undefined,
): UseInfiniteQueryResult<InfiniteData<DocumentsPage>> {
  const client = useQueryClient();
  const refresh = useMemo(
    () => createRefresher(() => client.invalidateQueries({ queryKey: ["documents"] }), PAUSE_MS),
    [client],
  );
  const isLive = useLogChanges(CHANGES, refresh);
  return useInfiniteQuery({
    ...documentsQuery(list, q, ordering),
    placeholderData: (previous, query) =>
      query?.queryKey[1] === list ? keepPreviousData(previous) : undefined,
    refetchInterval: isLive ? false : POLL_MS,
  });
}
