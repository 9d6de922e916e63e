import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { OidcSettings, OidcUserSettings } from "../../settings/oidc.ts";
import { createKeyResolver } from "./oidc-keys.ts";

/** The identity that claims of an OIDC provider state. */
export interface OidcIdentity {
  readonly sub: string;
  /** Null if absent or not verified by the issuer. */
  readonly email: string | null;
  readonly full_name: string | null;
  readonly short_name: string | null;
}

export interface VerifiedToken extends OidcIdentity {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface OidcTokenVerifier {
  /** Returns undefined for an invalid token. Throws `unavailable`. */
  verify(token: string): Promise<VerifiedToken | undefined>;
}

/** Asymmetric algorithms only: a public key must never be used as a shared secret. */
const ALGORITHMS = ["RS256", "ES256"];
/** Accepted clock difference, seconds. */
const CLOCK_TOLERANCE_S = 60;
/** Other token types, such as logout tokens, are rejected. */
const TYPES = /^(?:application\/)?(?:jwt|at\+jwt)$/i;

const SUB_MAX_LENGTH = 255;
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,189}$/;
const NAME_MAX_LENGTH = 100;

/** Verifies the tokens of an OIDC issuer. */
export function createOidcTokenVerifier(
  settings: OidcSettings,
  deps: Pick<Ports, "clock" | "log">,
): OidcTokenVerifier {
  const keys = createKeyResolver(settings, deps);
  return {
    verify: async (token) => {
      const claims = await verifyClaims(token, keys, settings, deps);
      const identity = claims === undefined ? undefined : identityOf(claims, settings);
      return identity && { ...identity, expiresAt: (claims?.exp ?? 0) * 1000 };
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
      issuer,
      audience: [...audiences],
      algorithms: ALGORITHMS,
      requiredClaims: ["iss", "aud", "sub", "exp"],
      clockTolerance: CLOCK_TOLERANCE_S,
      currentDate: new Date(clock.now()),
    });
    return TYPES.test(protectedHeader.typ ?? "JWT") ? payload : undefined;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // jose throws its own errors for invalid tokens and a TypeError for an unusable key.
    if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Returns the identity that verified claims state; undefined if their `sub` is invalid. */
export function identityOf(
  claims: Readonly<Record<string, unknown>>,
  { fullNameFields, shortNameField, requireVerifiedEmail }: OidcUserSettings,
): OidcIdentity | undefined {
  const { sub, email, email_verified } = claims;
  if (typeof sub !== "string" || sub.length > SUB_MAX_LENGTH || !/^[!-~]+$/.test(sub)) return undefined;
  const isVerified = email_verified === true || (email_verified === undefined && !requireVerifiedEmail);
  const isAddress = typeof email === "string" && EMAIL.test(email) && isVerified;
  const nameOf = (fields: readonly string[]): string | null => {
    const parts = fields.map((field) => readTextClaim(claims, field)).filter((part) => part !== "");
    return parts.join(" ").slice(0, NAME_MAX_LENGTH) || null;
  };
  return {
    sub,
    email: isAddress ? email : null,
    full_name: nameOf(fullNameFields),
    short_name: nameOf([shortNameField]),
  };
}

function readTextClaim(claims: Readonly<Record<string, unknown>>, field: string): string {
  const value = Object.hasOwn(claims, field) ? claims[field] : undefined;
  return typeof value === "string" ? value.trim().slice(0, NAME_MAX_LENGTH) : "";
}
