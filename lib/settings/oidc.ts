import type { SettingValues } from "./settings.ts";

/** How identities of an OpenID Connect provider become users. Reference: documents 1.15. */
export interface OidcUserSettings {
  readonly createUser: boolean;
  readonly fallbackToEmail: boolean;
  readonly allowDuplicateEmails: boolean;
  /** Whether `email` requires `email_verified: true`. With `email_verified: false` it is never used. */
  readonly requireVerifiedEmail: boolean;
  readonly ownerEmail: string;
  /** Whether an identity with the owner's email address is the owner. */
  readonly ownerByEmail: boolean;
  /** Claims whose values, joined by spaces, are the full name. */
  readonly fullNameFields: readonly string[];
  readonly shortNameField: string;
}

/** The identity provider whose tokens are accepted. Reference: documents 1.15, 7.1. */
export interface OidcSettings extends OidcUserSettings {
  /** The `iss` claim. */
  readonly issuer: string;
  /** The `aud` claim contains one of them. */
  readonly audiences: readonly string[];
  readonly jwksEndpoint: string;
  readonly timeoutMs: number;
}

/** Undefined if no tokens are accepted. Throws an Error if settings contradict each other. */
export function toOidcSettings(values: SettingValues): OidcSettings | undefined {
  const { OIDC_OP_URL: issuer, OIDC_OP_JWKS_ENDPOINT: jwksEndpoint } = values;
  if (values.OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION && values.OIDC_ALLOW_DUPLICATE_EMAILS)
    throw new Error(
      "OIDC_ALLOW_DUPLICATE_EMAILS: cannot be true while OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION is true; set one of them to false",
    );
  // With a resource server, tokens for these audiences have only the actions of the external API.
  if (values.OIDC_RS_ALLOWED_AUDIENCES.length === 0 || values.OIDC_RESOURCE_SERVER_ENABLED) return undefined;
  if (issuer === undefined || jwksEndpoint === undefined)
    throw new Error(
      "OIDC_RS_ALLOWED_AUDIENCES: needs OIDC_OP_URL and OIDC_OP_JWKS_ENDPOINT; set both, or remove the audiences",
    );
  return {
    ...toOidcUserSettings(values),
    issuer,
    audiences: values.OIDC_RS_ALLOWED_AUDIENCES,
    jwksEndpoint,
    timeoutMs: values.OIDC_TIMEOUT * 1000,
  };
}

export const toOidcUserSettings = (values: SettingValues): OidcUserSettings => ({
  createUser: values.OIDC_CREATE_USER,
  fallbackToEmail: values.OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION,
  allowDuplicateEmails: values.OIDC_ALLOW_DUPLICATE_EMAILS,
  requireVerifiedEmail: values.OIDC_REQUIRE_EMAIL_VERIFIED,
  ownerEmail: values.WEFT_OWNER_EMAIL,
  ownerByEmail: values.OIDC_ALLOW_OWNER_BY_EMAIL,
  fullNameFields: values.OIDC_USERINFO_FULLNAME_FIELDS,
  shortNameField: values.OIDC_USERINFO_SHORTNAME_FIELD,
});
