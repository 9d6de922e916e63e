import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as jose from "jose";
import { releaseKeyPair, takeKeyPair } from "./test-keys.ts";

type Algorithm = "RS256" | "ES256";
type KeyPair = jose.GenerateKeyPairResult;

interface TestHeader {
  readonly alg?: jose.JWSHeaderParameters["alg"] & string;
  readonly crit?: readonly string[];
  readonly [name: string]: unknown;
}

/** An identity provider for tests: real keys and signatures, with its public keys over HTTP on the loopback address. */
export interface TestIssuer extends AsyncDisposable {
  readonly settings: Readonly<Record<string, string>>;
  /** Number of requests for its keys. */
  keyRequests(): number;
  /** Creates a new signing key; keeps the previous keys unless they are dropped. */
  rotate(options?: { readonly algorithm?: Algorithm; readonly drop?: boolean }): Promise<void>;
  /** A token with valid claims, overridden by these; `undefined` removes a claim. */
  sign(claims: Readonly<Record<string, unknown>>, header?: TestHeader): Promise<string>;
  /** The public part of the signing key. */
  publicKey(): Promise<{ readonly pem: string; readonly kid: string }>;
  /** Overrides the response to requests for keys. */
  respondWith(answer: ((outgoing: ServerResponse) => void) | undefined): void;
}

export const TEST_AUDIENCE = "weft-documents";
const TOKEN_LIFE_S = 300;

export async function startTestIssuer(clock: { now(): number }): Promise<TestIssuer> {
  const made: { readonly kid: string; readonly algorithm: Algorithm; readonly pair: KeyPair }[] = [];
  const newKey = async (algorithm: Algorithm) => {
    const key = { kid: `key-${made.length + 1}`, algorithm, pair: await takeKeyPair(algorithm) };
    made.push(key);
    return key;
  };
  let current = await newKey("RS256");
  let keys = [current];
  let asked = 0;
  let override: ((outgoing: ServerResponse) => void) | undefined;

  const server = createServer(async (_incoming, outgoing) => {
    asked += 1;
    if (override !== undefined) return override(outgoing);
    const listed = await Promise.all(
      // Without `alg`, like some providers: clients must infer the algorithm.
      keys.map(async ({ kid, pair }) => ({ ...(await jose.exportJWK(pair.publicKey)), kid, use: "sig" })),
    );
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(JSON.stringify({ keys: listed }));
  }).listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => server.once("listening", () => resolve()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    settings: {
      OIDC_OP_URL: url,
      OIDC_OP_JWKS_ENDPOINT: `${url}/keys`,
      OIDC_RS_ALLOWED_AUDIENCES: `other, ${TEST_AUDIENCE}`,
      OIDC_TIMEOUT: "1",
    },
    keyRequests: () => asked,
    rotate: async ({ algorithm = "RS256", drop = false } = {}) => {
      current = await newKey(algorithm);
      keys = drop ? [current] : [...keys, current];
    },
    sign: async (claims, { crit = [], ...header } = {}) => {
      const { kid, algorithm, pair } = current;
      const { alg = algorithm } = header;
      const key = await jose.importJWK(await jose.exportJWK(pair.privateKey), alg);
      const now = Math.floor(clock.now() / 1_000);
      const good = { iss: url, aud: TEST_AUDIENCE, iat: now, exp: now + TOKEN_LIFE_S };
      const address = "email" in claims ? { email_verified: true } : {};
      return new jose.SignJWT({ ...good, ...address, ...claims })
        .setProtectedHeader({ kid, ...header, alg, ...(crit.length === 0 ? {} : { crit: [...crit] }) })
        .sign(key, { crit: Object.fromEntries(crit.map((name) => [name, true])) });
    },
    publicKey: async () => {
      const { kid, pair } = current;
      return { kid, pem: await jose.exportSPKI(pair.publicKey) };
    },
    respondWith: (answer) => {
      override = answer;
    },
    [Symbol.asyncDispose]: async () => {
      for (const { algorithm, pair } of made) releaseKeyPair(algorithm, pair);
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
