import { type QueryClient, queryOptions, type UseQueryResult, useQuery } from "@tanstack/react-query";
import i18next from "i18next";
import { ApiFailure, dataOf, type Schemas } from "../../client/api.ts";
import { api } from "./client.ts";
import { localUser } from "./local-data.ts";

type User = Schemas["User"];

export const ME = ["me"] as const;

/** Fails with status 401 without a session. */
export const ME_QUERY = queryOptions({
  queryKey: ME,
  queryFn: ({ client, signal }) => readMe(client, signal),
});

/** The user of the session. */
export const useMe = (): UseQueryResult<User> =>
  useQuery({
    ...ME_QUERY,
    // Parts of a page that is shown without a session do not ask again.
    retryOnMount: false,
  });

/** Without a connection, a page that has just been loaded is that of the user whose documents are on this device. */
async function readMe(client: QueryClient, signal: AbortSignal): Promise<User> {
  try {
    return await dataOf(api.GET("/api/v1.0/users/me", { signal }));
  } catch (error) {
    const isKnown = client.getQueryData(ME) !== undefined;
    const id = isKnown || signal.aborted || error instanceof ApiFailure ? undefined : await localUser();
    if (id === undefined) throw error;
    const name = i18next.t("app.local_user");
    return { id, email: null, full_name: name, short_name: name, language: null, is_first_connection: false };
  }
}

/** What the user is called: their name, otherwise their address. */
export const nameOf = ({ full_name, email, id }: User): string =>
  full_name !== "" ? full_name : (email ?? id);
