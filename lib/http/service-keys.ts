import { timingSafeEqual } from "node:crypto";
import { type Authenticator, hashToken } from "./auth.ts";
import type { Principal } from "./route.ts";

/**
 * Also authenticates another program of the installation by one of its keys. Routes that do not list services as
 * callers refuse it. The response time does not depend on how much of a key was guessed.
 */
export function withServiceKeys(
  auth: Authenticator,
  { id, keys }: { readonly id: string; readonly keys: readonly (string | undefined)[] },
): Authenticator {
  const hashes = keys.filter((key) => key !== undefined).map(hashToken);
  const credential = { id: `service:${id}` };
  const service: Principal = { kind: "service", id, credential };
  return {
    authenticate: async (token, scope) => {
      const sent = hashToken(token);
      const known = hashes.filter((hash) => timingSafeEqual(hash, sent));
      return known.length > 0 ? service : auth.authenticate(token, scope);
    },
    isValid: async (credentialId) => credentialId === credential.id || auth.isValid(credentialId),
  };
}
