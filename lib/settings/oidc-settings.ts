import * as z from "zod";

/** An identity provider whose tokens are taken, and how its people become users. Reference: documents 1.15, 7.1. */
export interface OidcSettings {
  /** What stands in `iss`. */
  readonly issuer: string;
  /** One of them stands in `aud`. */
  readonly audiences: readonly string[];
  readonly jwksEndpoint: string;
  readonly timeoutMs: number;
  readonly createUser: boolean;
  readonly fallbackToEmail: boolean;
  readonly allowDuplicateEmails: boolean;
  /** Whether an address counts only with `email_verified: true`; one that is said not to be verified never does. */
  readonly requireVerifiedEmail: boolean;
  /** The address of the installation's owner, and whether a token with it is the owner's. */
  readonly ownerEmail: string;
  readonly ownerByEmail: boolean;
  /** Claims that make up a name, with blanks between. */
  readonly fullNameFields: readonly string[];
  readonly shortNameField: string;
}

const TIMEOUT_S = 3;
const FULL_NAME_FIELDS = "first_name,last_name";
const SHORT_NAME_FIELD = "first_name";

const optionalText = z
  .string()
  .optional()
  .transform((value) => (value === "" ? undefined : value));

const httpUrl = optionalText.refine(
  (value) => value === undefined || /^https?:$/.test(URL.parse(value)?.protocol ?? ""),
  "must be an http or https URL",
);

const names = (otherwise: string) =>
  z
    .string()
    .optional()
    .transform((value) =>
      (value || otherwise)
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== ""),
    );

const onOff = (otherwise: boolean) =>
  z
    .string()
    .optional()
    .transform((value) => (value ?? "").toLowerCase())
    .refine((value) => /^(?:true|1|yes|on|false|0|no|off|)$/.test(value), "must be true or false")
    .transform((value) => (value === "" ? otherwise : /^(?:true|1|yes|on)$/.test(value)));

/** Rows of the settings. */
export const oidcRows = {
  OIDC_OP_URL: httpUrl.meta({
    description: "Issuer of tokens (JWT) that the documents take, as it stands in their `iss`",
    default: "",
  }),
  OIDC_OP_JWKS_ENDPOINT: httpUrl.meta({ description: "Where its public keys are read", default: "" }),
  OIDC_RS_ALLOWED_AUDIENCES: names("").meta({
    description: "Audiences of its tokens that are taken, by commas; without one no token is",
    default: "",
  }),
  OIDC_TIMEOUT: z
    .string()
    .optional()
    .transform((value) => value || String(TIMEOUT_S))
    .refine((value) => /^[1-9]\d?$/.test(value), "must be whole seconds from 1 to 99")
    .transform(Number)
    .meta({ description: "Time for the issuer to answer, seconds", default: String(TIMEOUT_S) }),
  OIDC_CREATE_USER: onOff(true).meta({
    description: "Whether whoever brings a token of the issuer becomes a user",
    default: "true",
  }),
  OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION: onOff(true).meta({
    description: "Whether who is not known by `sub` is looked for by address",
    default: "true",
  }),
  OIDC_ALLOW_DUPLICATE_EMAILS: onOff(false).meta({
    description: "Whether somebody with the address of another becomes a user of their own",
    default: "false",
  }),
  OIDC_REQUIRE_EMAIL_VERIFIED: onOff(true).meta({
    description:
      "Whether an address of a token counts only with `email_verified: true`; with false, also without that claim",
    default: "true",
  }),
  OIDC_ALLOW_OWNER_BY_EMAIL: onOff(false).meta({
    description: "Whether a token with the address of the installation's owner signs in as the owner",
    default: "false",
  }),
  OIDC_USERINFO_FULLNAME_FIELDS: names(FULL_NAME_FIELDS).meta({
    description: "Claims that make up a user's full name, by commas",
    default: FULL_NAME_FIELDS,
  }),
  OIDC_USERINFO_SHORTNAME_FIELD: z
    .string()
    .optional()
    .transform((value) => value || SHORT_NAME_FIELD)
    .meta({ description: "The claim that is a user's short name", default: SHORT_NAME_FIELD }),
};

const oidcSchema = z.object(oidcRows);

/** The settings put together; undefined where no tokens are taken. Throws an Error where they contradict each other. */
export function oidcSettings(
  parsed: z.infer<typeof oidcSchema> & { readonly WEFT_OWNER_EMAIL: string },
): OidcSettings | undefined {
  const audiences = parsed.OIDC_RS_ALLOWED_AUDIENCES;
  const { OIDC_OP_URL: issuer, OIDC_OP_JWKS_ENDPOINT: jwksEndpoint } = parsed;
  const fallbackToEmail = parsed.OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION;
  const allowDuplicateEmails = parsed.OIDC_ALLOW_DUPLICATE_EMAILS;
  if (fallbackToEmail && allowDuplicateEmails)
    throw new Error(
      "OIDC_ALLOW_DUPLICATE_EMAILS: cannot be true while OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION is: set one of them to false",
    );
  if (audiences.length === 0) return undefined;
  if (issuer === undefined || jwksEndpoint === undefined)
    throw new Error(
      "OIDC_RS_ALLOWED_AUDIENCES: needs OIDC_OP_URL and OIDC_OP_JWKS_ENDPOINT, the issuer of the tokens and its keys: set both",
    );
  return {
    ...{ issuer, audiences, jwksEndpoint, fallbackToEmail, allowDuplicateEmails },
    timeoutMs: parsed.OIDC_TIMEOUT * 1_000,
    createUser: parsed.OIDC_CREATE_USER,
    requireVerifiedEmail: parsed.OIDC_REQUIRE_EMAIL_VERIFIED,
    ownerEmail: parsed.WEFT_OWNER_EMAIL,
    ownerByEmail: parsed.OIDC_ALLOW_OWNER_BY_EMAIL,
    fullNameFields: parsed.OIDC_USERINFO_FULLNAME_FIELDS,
    shortNameField: parsed.OIDC_USERINFO_SHORTNAME_FIELD,
  };
}
