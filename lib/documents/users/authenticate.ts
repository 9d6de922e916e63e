import type { Principal } from "../../http/route.ts";
import type { Ports } from "../../platform/ports.ts";
import type { OidcSettings } from "../../settings/oidc.ts";
import { createOidcTokenVerifier } from "./oidc-tokens.ts";
import { resolveOidcUser } from "./oidc-users.ts";
import { isTokenValid, tokenIdOfCredential, verifyToken } from "./verify-token.ts";

interface Authenticator {
  authenticate(token: string, scope?: string): Promise<Principal | undefined>;
  isValid(credentialId: string): Promise<boolean>;
}

/** Credential id of all OIDC tokens. The issuer does not publish revocations, so they are valid until they expire. */
const OIDC_CREDENTIAL = "issued";

const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/**
 * Authenticates the installation's own token, then access tokens of users, then OIDC tokens. OIDC tokens give access
 * to the documents only, because workflows run programs.
 */
export function withAccessTokens(
  own: Authenticator,
  deps: Pick<Ports, "tables" | "ids" | "clock" | "log">,
  oidc: OidcSettings | undefined,
): Authenticator {
  const issued = oidc === undefined ? undefined : createOidcTokenVerifier(oidc, deps);
  return {
    authenticate: async (token, scope) => {
      const known = (await own.authenticate(token)) ?? (await verifyAccessToken(deps, token));
      if (known !== undefined || oidc === undefined || scope !== "documents" || !JWT.test(token))
        return known;
      const identified = await issued?.verify(token);
      const user = identified === undefined ? undefined : await resolveOidcUser(deps, oidc, identified);
      if (user === undefined || identified === undefined) return undefined;
      const credential = { id: OIDC_CREDENTIAL, expiresAt: identified.expiresAt };
      return { kind: "user", id: user.id, scopes: ["documents"], credential };
    },
    isValid: async (id) => {
      if (id === OIDC_CREDENTIAL) return true;
      const token = tokenIdOfCredential(id);
      return token === undefined ? own.isValid(id) : isTokenValid(deps, token);
    },
  };
}

async function verifyAccessToken(
  deps: Pick<Ports, "tables" | "clock">,
  token: string,
): Promise<Principal | undefined> {
  const user = await verifyToken(deps, token);
  return user === undefined ? undefined : { kind: "user", ...user };
}
