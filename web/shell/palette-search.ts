import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { dataOf } from "../../client/api.ts";
import { api } from "../api/client.ts";
import type { Run } from "../api/runs.ts";
import type { Workflow } from "../api/workflows.ts";
import type { FoundDocument } from "./found-document.tsx";

const DOCUMENTS_MAX = 8;
const OTHERS_MAX = 5;

const options = (kind: string, q: string) =>
  ({ queryKey: ["palette", kind, q], enabled: q !== "", placeholderData: keepPreviousData }) as const;

/** Documents by the words in their titles and texts: all, or a document and those inside it. */
export const useFoundDocuments = (
  q: string,
  inside: string | undefined,
): UseQueryResult<{ readonly results: readonly FoundDocument[] }> =>
  useQuery({
    ...options(`documents ${inside ?? ""}`, q),
    queryFn: ({ signal }) => {
      const query = { q, page_size: DOCUMENTS_MAX, ...(inside === undefined ? {} : { document: inside }) };
      return dataOf(api.GET("/api/v1.0/documents/search", { params: { query }, signal }));
    },
  });

/** Workflows by their names and descriptions. */
export const useFoundWorkflows = (q: string): UseQueryResult<{ readonly data: readonly Workflow[] }> =>
  useQuery({
    ...options("workflows", q),
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/automation/workflows", { params: { query: { search: q, limit: OTHERS_MAX } }, signal }),
      ),
  });

/** The newest runs by their targets. */
export const useFoundRuns = (q: string): UseQueryResult<{ readonly data: readonly Run[] }> =>
  useQuery({
    ...options("runs", q),
    queryFn: ({ signal }) =>
      dataOf(api.GET("/automation/runs", { params: { query: { target: q, limit: OTHERS_MAX } }, signal })),
  });
