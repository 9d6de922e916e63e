import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { OidcSettings } from "../../settings/oidc.ts";

/** Keys are refreshed at this age or if a token names an unknown key, but not more often than the cooldown allows. */
const KEYS_MAX_AGE_MS = 10 * 60_000;
const REFRESH_COOLDOWN_MS = 30_000;
/** Cooldown after a failed refresh. */
const FAILED_REFRESH_COOLDOWN_MS = 5_000;
const KEYS_MAX_BYTES = 256 * 1024;

type KeyDeps = Pick<Ports, "clock" | "log">;

/**
 * Finds a token's key in the issuer's JWKS and ignores key locations in the token. Cached keys stay valid while the
 * issuer does not respond. Throws jose's errors, and `unavailable` if no keys are cached.
 */
export function createKeyResolver(
  { jwksEndpoint, timeoutMs }: Pick<OidcSettings, "jwksEndpoint" | "timeoutMs">,
  { clock, log }: KeyDeps,
): JWTVerifyGetKey {
  let known: { readonly find: JWTVerifyGetKey; readonly at: number } | undefined;
  let cooldownUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    const { createLocalJWKSet } = await import("jose");
    try {
      const keys = await fetchKeys(jwksEndpoint, timeoutMs);
      known = { find: createLocalJWKSet(keys), at: clock.now() };
      cooldownUntil = clock.now() + REFRESH_COOLDOWN_MS;
    } catch (error) {
      cooldownUntil = clock.now() + FAILED_REFRESH_COOLDOWN_MS;
      log.warn("reading the JWKS of the OIDC issuer failed", { endpoint: jwksEndpoint, error });
    }
  };
  const refreshUnlessCoolingDown = async (): Promise<void> => {
    if (reading === undefined && clock.now() < cooldownUntil) return;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    await reading;
  };

  return async (header, token) => {
    if (known === undefined || clock.now() - known.at > KEYS_MAX_AGE_MS) await refreshUnlessCoolingDown();
    if (known === undefined)
      throw new ApiError("unavailable", "The token issuer does not respond; try again later", {
        retryAfterSeconds: FAILED_REFRESH_COOLDOWN_MS / 1_000,
      });
    const { find } = known;
    try {
      return await find(header, token);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ERR_JWKS_NO_MATCHING_KEY") throw error;
      await refreshUnlessCoolingDown();
      return known.find(header, token);
    }
  };
}

/** Throws if the response is late, not 200, or too large. */
async function fetchKeys(endpoint: string, timeoutMs: number): Promise<JSONWebKeySet> {
  const response = await fetch(endpoint, {
    headers: { accept: "application/json, application/jwk-set+json" },
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`the response status is ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > KEYS_MAX_BYTES) throw new Error(`the response is larger than ${KEYS_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as JSONWebKeySet;
}
