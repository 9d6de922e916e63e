import { queryOptions } from "@tanstack/react-query";
import { ApiFailure } from "../../client/api.ts";

const SILENT_LOGIN_KEY = "weft.silent_login";

/**
 * The identity provider signs the user in, and leads back to the page that they asked for. A silent login shows nothing:
 * without a session at the provider, it leads back at once. Rejects with the status 404 if the server has no provider.
 */
export async function beginLogin({ isSilent = false } = {}): Promise<void> {
  const next = `${location.pathname}${location.search}`;
  const address = `/api/v1.0/authenticate/?next=${encodeURIComponent(next)}${isSilent ? "&silent=true" : ""}`;
  // Asked first, so that an error is shown on this page. A redirect cannot be read, only recognized.
  const response = await fetch(address, { redirect: "manual" });
  if (response.type !== "opaqueredirect")
    throw new ApiFailure(response.status, await response.json().catch(() => undefined));
  // Back then leads to the page before this one.
  if (isSilent) location.replace(address);
  else location.assign(address);
}

/** A tab tries it once: not again after it has failed, and not after the user has logged out. */
export const preventSilentLogin = (): void => sessionStorage.setItem(SILENT_LOGIN_KEY, "done");

/** Tries to sign in without a prompt. Its data is whether the browser leaves this page. */
export const SILENT_LOGIN = queryOptions({
  queryKey: ["silent-login"],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async () => {
    if (sessionStorage.getItem(SILENT_LOGIN_KEY) !== null) return false;
    preventSilentLogin();
    return beginLogin({ isSilent: true }).then(
      () => true,
      () => false,
    );
  },
});
