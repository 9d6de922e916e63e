import { type Query, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiFailure } from "../../client/api.ts";
import { onReconnected } from "./connection.ts";
import { ME } from "./me.ts";

const STALE_MS = 5_000;
const RETRIES_MAX = 2;

/** A response is final; a request without one is sent again. */
const shouldRetry = (failures: number, error: Error): boolean =>
  !(error instanceof ApiFailure) && failures < RETRIES_MAX;

const isMe = ({ queryKey }: Pick<Query, "queryKey">): boolean => queryKey[0] === ME[0];

export const queryClient: QueryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: STALE_MS, retry: shouldRetry, networkMode: "always" },
    mutations: { networkMode: "always" },
  },
  queryCache: new QueryCache({
    // The session has ended: the shell shows the login, and nothing that was read with the session.
    onError: (error, query) => {
      const hadSession = queryClient.getQueryData(ME) !== undefined;
      if (!hadSession || !(error instanceof ApiFailure) || error.status !== 401) return;
      if (isMe(query)) {
        query.setState({ data: undefined });
        queryClient.removeQueries({ predicate: (other) => !isMe(other) });
      } else void queryClient.invalidateQueries({ queryKey: ME });
    },
  }),
});

onReconnected(() => void queryClient.invalidateQueries());
