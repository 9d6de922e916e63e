import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { OidcSettings } from "../../settings/oidc.ts";
import { createKeyResolver } from "./oidc-keys.ts";

/** Whose token it is, as its issuer says. */
export interface OidcIdentity {
  readonly sub: string;
  /** Null where there is none, or the issuer has not verified it. */
  readonly email: string | null;
  readonly full_name: string | null;
  readonly short_name: string | null;
  /** When the token expires, milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface OidcTokenVerifier {
  /** Undefined for what is no valid token of the issuer. Throws `unavailable`. */
  verify(token: string): Promise<OidcIdentity | undefined>;
}

/** Signatures by the issuer's private key alone: a public one must never count as a shared secret. */
const ALGORITHMS = ["RS256", "ES256"];
/** Clocks may differ so far, seconds. */
const CLOCK_TOLERANCE_S = 60;
/** Tokens that issuers make for other ends, as of a logout, say so. */
const TYPES = /^(?:application\/)?(?:jwt|at\+jwt)$/i;

const SUB_MAX_LENGTH = 255;
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,189}$/;
const NAME_MAX_LENGTH = 100;

/** Reads the tokens of an issuer. */
export function createOidcTokenVerifier(
  settings: OidcSettings,
  deps: Pick<Ports, "clock" | "log">,
): OidcTokenVerifier {
  const keys = createKeyResolver(settings, deps);
  return {
    verify: async (token) => {
      const claims = await verifyClaims(token, keys, settings, deps);
      return claims === undefined ? undefined : toIdentity(claims, settings);
    },
  };
}

async function verifyClaims(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, audiences }: OidcSettings,
  { clock }: Pick<Ports, "clock">,
): Promise<JWTPayload | undefined> {
  const { errors, jwtVerify } = await import("jose");
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      ...{ issuer, audience: [...audiences], algorithms: ALGORITHMS },
      requiredClaims: ["iss", "aud", "sub", "exp"],
      clockTolerance: CLOCK_TOLERANCE_S,
      currentDate: new Date(clock.now()),
    });
    return TYPES.test(protectedHeader.typ ?? "JWT") ? payload : undefined;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // What jose makes of a token and of the keys is its own errors, and a TypeError for a key that is of no use.
    if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function toIdentity(
  claims: JWTPayload,
  { fullNameFields, shortNameField, requireVerifiedEmail }: OidcSettings,
): OidcIdentity | undefined {
  const { sub } = claims;
  if (typeof sub !== "string" || sub.length > SUB_MAX_LENGTH || !/^[!-~]+$/.test(sub)) return undefined;
  const { email, email_verified } = claims;
  const isVerified = email_verified === true || (email_verified === undefined && !requireVerifiedEmail);
  const isAddress = typeof email === "string" && EMAIL.test(email) && isVerified;
  const nameOf = (fields: readonly string[]): string | null => {
    const parts = fields.map((field) => readTextClaim(claims, field)).filter((part) => part !== "");
    return parts.join(" ").slice(0, NAME_MAX_LENGTH) || null;
  };
  return {
    ...{ sub, email: isAddress ? email : null },
    full_name: nameOf(fullNameFields),
    short_name: nameOf([shortNameField]),
    expiresAt: (claims.exp ?? 0) * 1000,
  };
}

function readTextClaim(claims: JWTPayload, field: string): string {
  const value = Object.hasOwn(claims, field) ? claims[field] : undefined;
  return typeof value === "string" ? value.trim().slice(0, NAME_MAX_LENGTH) : "";
}
