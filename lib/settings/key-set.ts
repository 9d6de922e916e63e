import { createPrivateKey, createPublicKey, hash, type JsonWebKey, type KeyObject } from "node:crypto";

/** A public key as others read it. RFC 7517. */
export interface PublicKey extends Readonly<Record<string, string>> {
  readonly kty: string;
  readonly kid: string;
}

export interface KeySet {
  readonly keys: readonly PublicKey[];
}

/** What belongs to the public half, by the kind of key; also what a thumbprint is made of, in its order. RFC 7638. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  RSA: ["e", "kty", "n"],
  EC: ["crv", "kty", "x", "y"],
};
/** How content is encrypted to a key where nothing else is said. */
const ALGORITHMS: Readonly<Record<string, string>> = { RSA: "RSA-OAEP", EC: "ECDH-ES" };
const RSA_BITS_MIN = 2048;

/**
 * The public half of a private key (PEM, also with `\n` written out, or a JWK) as the one key of a set, to encrypt to.
 * Throws an Error that says what is wrong, never with a part of the key.
 */
export function publicKeySet(text: string, algorithm: string | undefined): KeySet {
  const key = readPrivateKey(text.trim());
  const jwk = createPublicKey(key).export({ format: "jwk" });
  const kty = jwk.kty ?? "";
  const members = MEMBERS[kty];
  if (members === undefined) throw new Error("must be an RSA or EC private key");
  if (kty === "RSA" && (key.asymmetricKeyDetails?.modulusLength ?? 0) < RSA_BITS_MIN)
    throw new Error(`must be a key of at least ${RSA_BITS_MIN} bits`);
  const alg = algorithm ?? ALGORITHMS[kty] ?? "";
  if (alg.startsWith("RSA") !== (kty === "RSA"))
    throw new Error(`is a key of type ${kty}, which OIDC_RS_ENCRYPTION_ALGO ${alg} does not go with`);
  const known = Object.fromEntries(members.map((name) => [name, jwk[name] as string]));
  const kid = hash("sha256", JSON.stringify(known), "base64url");
  return { keys: [{ ...known, kty, kid, use: "enc", alg }] };
}

/** Throws an Error that says what is wrong, never with a part of the key. */
export function readPrivateKey(text: string): KeyObject {
  try {
    if (text.startsWith("{")) return createPrivateKey({ key: JSON.parse(text) as JsonWebKey, format: "jwk" });
    return createPrivateKey(text.replaceAll("\\n", "\n"));
  } catch {
    throw new Error("must be a private key that can be read: PEM without a passphrase, or a JWK");
  }
}
