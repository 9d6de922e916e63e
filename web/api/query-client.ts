import { QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiFailure } from "../../client/api.ts";
import { onReconnected } from "./connection.ts";
import { ME } from "./me.ts";

const STALE_MS = 5_000;
const RETRIES_MAX = 2;

/** A response is final; a request without one is sent again. */
const shouldRetry = (failures: number, error: Error): boolean =>
  !(error instanceof ApiFailure) && failures < RETRIES_MAX;

export const queryClient: QueryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: STALE_MS, retry: shouldRetry, networkMode: "always" },
    mutations: { networkMode: "always" },
  },
  queryCache: new QueryCache({
    // The session has ended: the shell shows the login.
    onError: (error, { queryKey }) => {
      const hadSession = queryClient.getQueryData(ME) !== undefined;
      if (hadSession && error instanceof ApiFailure && error.status === 401 && queryKey[0] !== ME[0])
        void queryClient.invalidateQueries({ queryKey: ME });
    },
  }),
});

onReconnected(() => void queryClient.invalidateQueries());
