import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { dataOf, type Schemas } from "../../client/api.ts";
import { api } from "./client.ts";

/** The public configuration of the document service, which changes only when the server starts again. */
export const useConfig = (): UseQueryResult<Schemas["DocumentConfig"]> =>
  useQuery({
    queryKey: ["config"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => dataOf(api.GET("/api/v1.0/config", { signal })),
  });
