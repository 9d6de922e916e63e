import { ApiFailure, dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";

const STALE_MS = 60_000;

/** The title of a document now. Undefined if the user may not read it, or it is unknown. */
export async function readTitle(id: string): Promise<string | null | undefined> {
  try {
    const { title } = await queryClient.fetchQuery({
      queryKey: ["document", id],
      staleTime: STALE_MS,
      queryFn: ({ signal }) =>
        dataOf(api.GET("/api/v1.0/documents/{id}", { params: { path: { id } }, signal })),
    });
    return title;
  } catch (error) {
    if (error instanceof ApiFailure) return undefined;
    throw error;
  }
}
