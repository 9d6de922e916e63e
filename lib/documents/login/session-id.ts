import { hash, randomBytes } from "node:crypto";

/** The cookie with the secret id of a session. Reference 1.0. */
export const SESSION_COOKIE = "docs_sessionid";

const ID_BYTES = 32;
const ID = /^[\w-]{43}$/;

/** Returns a secret id of 256 random bits. */
export const createSessionId = (): string => randomBytes(ID_BYTES).toString("base64url");

/** Returns the hash under which a session is stored; undefined if the text cannot be an id. */
export const hashSessionId = (id: string): string | undefined =>
  ID.test(id) ? hash("sha256", id, "hex") : undefined;
