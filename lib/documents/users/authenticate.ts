import type { Ports } from "../../platform/ports.ts";
import type { Scope } from "./table.ts";
import { userOfToken } from "./tokens.ts";

interface Principal {
  readonly kind: "owner" | "user";
  readonly id: string;
  readonly scopes?: readonly (Scope | "root")[];
}

interface Authenticator {
  authenticate(token: string): Promise<Principal | undefined>;
}

/** Knows the installation's own token first, then those that were made for users. */
export function withAccessTokens(own: Authenticator, deps: Pick<Ports, "tables" | "clock">): Authenticator {
  return {
    authenticate: async (token) => {
      const known = await own.authenticate(token);
      if (known !== undefined) return known;
      const user = await userOfToken(deps, token);
      return user === undefined ? undefined : { kind: "user", ...user };
    },
  };
}
