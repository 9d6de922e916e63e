import type { Credentials } from "./backend.ts";

/** Prefix of tickets. */
export const TICKET_PREFIX = "weft-ticket_";

const GENERATION = /^(\d{1,15}):/;
const TOKEN_MAX = 8_192;

export interface SentToken {
  /** The generation of the content that the client has; undefined if it does not say. */
  readonly generation: number | undefined;
  /** Undefined for a client without a token, which authenticates with its cookies. */
  readonly credentials: Exclude<Credentials, { kind: "cookie" }> | undefined;
}

/** Reads the token of a Hocuspocus client: empty, a ticket or an access token, each after `{generation}:` or alone. */
export function readToken(sent: string): SentToken {
  const token = sent.slice(0, TOKEN_MAX);
  const [prefix = "", generation] = GENERATION.exec(token) ?? [];
  const secret = token.slice(prefix.length);
  return {
    generation: generation === undefined ? undefined : Number(generation),
    credentials: secret === "" ? undefined : credentialsOf(secret),
  };
}

const credentialsOf = (secret: string): SentToken["credentials"] =>
  secret.startsWith(TICKET_PREFIX) ? { kind: "ticket", ticket: secret } : { kind: "token", token: secret };
