import * as jose from "jose";

type Algorithm = "RS256" | "ES256";

/** Keys that no issuer uses now: generating one takes longer than most tests. */
const unused = { RS256: [], ES256: [] } as Record<Algorithm, jose.GenerateKeyPairResult[]>;

/** A key pair that nobody else in this process has, until `releaseKeyPair`. */
export async function takeKeyPair(algorithm: Algorithm): Promise<jose.GenerateKeyPairResult> {
  return unused[algorithm].pop() ?? jose.generateKeyPair(algorithm, { extractable: true });
}

export function releaseKeyPair(algorithm: Algorithm, pair: jose.GenerateKeyPairResult): void {
  unused[algorithm].push(pair);
}
