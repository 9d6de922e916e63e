import { hash, timingSafeEqual } from "node:crypto";
import type { Principal, ServiceName } from "./route.ts";

/** Longest bearer token looked at, characters. */
const TOKEN_MAX_LENGTH = 8192;

const FINGERPRINT_LENGTH = 6;

/** SHA-256 of a token: what is kept of it. */
export function hashToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** The token of an `Authorization: Bearer` header; the scheme in any case. Seed: workflow 5. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined || header.length > TOKEN_MAX_LENGTH) return undefined;
  const match = /^bearer +([^\s]+) *$/i.exec(header);
  return match?.[1];
}

export interface Authenticator {
  /** Whose token it is for a service, or undefined. Tells nothing of the owner's token by the time it takes. */
  authenticate(token: string, service?: ServiceName): Promise<Principal | undefined>;
  /** Whether the token of this credential has not been revoked since. */
  isValid(credentialId: string): Promise<boolean>;
}

/** Knows the one token of the installation, by its hash. */
export function ownerAuthenticator(tokenHash: Buffer): Authenticator {
  // Too short to find a token by.
  const fingerprint = hash("sha256", tokenHash, "base64url").slice(0, FINGERPRINT_LENGTH);
  const credential = { id: `owner:${fingerprint}` };
  const owner: Principal = { kind: "owner", id: "owner", credential };
  return {
    authenticate: async (token) => (timingSafeEqual(hashToken(token), tokenHash) ? owner : undefined),
    isValid: async (id) => id === credential.id,
  };
}
