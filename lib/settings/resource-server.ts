import type { ExternalActions } from "./external-api.ts";
import { type PublicKey, readPrivateKey } from "./key-set.ts";
import { type OidcUserSettings, toOidcUserSettings } from "./oidc.ts";
import { refuseExposedEndpoints } from "./oidc-login.ts";
import type { SettingValues } from "./settings.ts";

/** The API for other services. Reference: documents 1.16. */
export interface ResourceServerSettings {
  readonly issuer: string;
  /** Discovered if undefined. */
  readonly introspectionEndpoint: string | undefined;
  readonly jwksEndpoint: string | undefined;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The claim of an introspection response that contains one of `audiences`. */
  readonly audienceClaim: string;
  readonly audiences: readonly string[];
  readonly scopes: readonly string[];
  readonly signAlgorithm: string;
  /** Undefined if introspection responses are JSON. */
  readonly decryption: Decryption | undefined;
  readonly timeoutSeconds: number;
  readonly users: OidcUserSettings;
  readonly actions: ExternalActions;
}

/** How introspection responses are decrypted. */
export interface Decryption {
  /** PKCS 8, as PEM. */
  readonly privateKey: string;
  /** The `kid` of its public key in GET jwks. */
  readonly keyId: string;
  readonly algorithm: string;
  readonly encoding: string;
}

/** Undefined if it is disabled. Throws an Error for missing and contradicting settings. */
export function toResourceServerSettings(
  values: SettingValues,
  publicKey: PublicKey | undefined,
): ResourceServerSettings | undefined {
  const key = values.OIDC_RS_PRIVATE_KEY_STR;
  const keyType = publicKey?.kty;
  if (keyType !== undefined && (values.OIDC_RS_ENCRYPTION_KEY_TYPE ?? keyType) !== keyType)
    throw new Error(
      `OIDC_RS_ENCRYPTION_KEY_TYPE: is not the type of OIDC_RS_PRIVATE_KEY_STR, which is ${keyType}`,
    );
  if (!values.OIDC_RESOURCE_SERVER_ENABLED) return undefined;
  const {
    OIDC_OP_URL: issuer,
    OIDC_RS_CLIENT_ID: clientId,
    OIDC_RS_CLIENT_SECRET: clientSecret,
    OIDC_RS_ALLOWED_AUDIENCES: audiences,
  } = values;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined || audiences.length === 0)
    throw new Error(
      "OIDC_RESOURCE_SERVER_ENABLED: needs OIDC_OP_URL, OIDC_RS_CLIENT_ID, OIDC_RS_CLIENT_SECRET and OIDC_RS_ALLOWED_AUDIENCES; set all of them",
    );
  refuseExposedEndpoints(values, ["OIDC_OP_URL", "OIDC_OP_INTROSPECTION_ENDPOINT", "OIDC_OP_JWKS_ENDPOINT"]);
  return {
    issuer,
    introspectionEndpoint: values.OIDC_OP_INTROSPECTION_ENDPOINT,
    jwksEndpoint: values.OIDC_OP_JWKS_ENDPOINT,
    clientId,
    clientSecret,
    audienceClaim: values.OIDC_RS_AUDIENCE_CLAIM,
    audiences,
    scopes: values.OIDC_RS_SCOPES,
    signAlgorithm: values.OIDC_RS_SIGNING_ALGO,
    decryption:
      key === undefined || publicKey === undefined
        ? undefined
        : { ...decryptionKey(key, publicKey), encoding: values.OIDC_RS_ENCRYPTION_ENCODING },
    timeoutSeconds: values.OIDC_TIMEOUT,
    users: toOidcUserSettings(values),
    actions: values.EXTERNAL_API,
  };
}

function decryptionKey(text: string, { kid, alg = "" }: PublicKey): Omit<Decryption, "encoding"> {
  const key = readPrivateKey(text.trim());
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (curve !== undefined && curve !== "prime256v1")
    throw new Error(
      "OIDC_RS_PRIVATE_KEY_STR: an EC key must be on the curve P-256 to decrypt introspection responses",
    );
  return { privateKey: key.export({ type: "pkcs8", format: "pem" }).toString(), keyId: kid, algorithm: alg };
}
