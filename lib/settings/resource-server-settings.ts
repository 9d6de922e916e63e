import { EXTERNAL_API_DEFAULT, externalApi } from "./external-api.ts";
import { endpoint, secret, signAlgorithm } from "./login-settings.ts";
import { boolean, list, matching, oneOf, type Setting, text } from "./setting-types.ts";

/** The settings of the API for other services, with access tokens of the provider. Reference: documents 1.16, 7.1. */
export const resourceServerSettings = {
  OIDC_RESOURCE_SERVER_ENABLED: {
    type: boolean,
    default: "false",
    description:
      "Whether /external_api/v1.0/ accepts access tokens of the provider (OIDC_OP_URL); the API itself then accepts none of its tokens",
  },
  OIDC_OP_INTROSPECTION_ENDPOINT: {
    type: endpoint,
    documentedDefault: "discovered",
    description: "Introspection endpoint of the provider",
  },
  OIDC_RS_CLIENT_ID: { type: text(255), description: "Client id with which access tokens are introspected" },
  OIDC_RS_CLIENT_SECRET: {
    type: secret,
    isSecret: true,
    description: "Client secret with which access tokens are introspected",
  },
  OIDC_RS_AUDIENCE_CLAIM: {
    type: matching(/^[\w.:/-]{1,100}$/, "the name of a claim"),
    default: "client_id",
    description: "Claim of an introspection response that must contain one of OIDC_RS_ALLOWED_AUDIENCES",
  },
  OIDC_RS_SCOPES: {
    type: list(),
    default: "openid",
    description: "Scopes that an access token must have, separated by commas",
  },
  OIDC_RS_SIGNING_ALGO: {
    type: signAlgorithm,
    default: "ES256",
    description: "Algorithm with which the provider signs introspection responses",
  },
  OIDC_RS_ENCRYPTION_ENCODING: {
    type: oneOf("A128GCM", "A192GCM", "A256GCM", "A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512"),
    default: "A256GCM",
    description: "Algorithm with which the content of encrypted introspection responses is encrypted",
  },
  OIDC_RS_ENCRYPTION_KEY_TYPE: {
    type: oneOf("RSA", "EC"),
    documentedDefault: "the type of the key",
    description: "Type of OIDC_RS_PRIVATE_KEY_STR; another key stops the start",
  },
  EXTERNAL_API: {
    type: externalApi,
    default: EXTERNAL_API_DEFAULT,
    description: "Actions that the external API permits, as JSON by resource",
  },
} satisfies Record<string, Setting>;
