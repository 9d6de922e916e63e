import { isMailAddress } from "../mail/mail.ts";
import { documentSettings } from "./document-settings.ts";
import {
  boolean,
  integer,
  list,
  mapped,
  matching,
  oneOf,
  type Setting,
  type SettingType,
  socketAddress,
  text,
  url,
  validText,
} from "./setting-types.ts";
import { workflowSettings } from "./workflow-settings.ts";

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;
/** `*`, a host name, an address, or a domain with a leading dot. */
const ALLOWED_HOST = /^(?:\*|\.?[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\])$/i;

const accessToken = validText((value) => value.length >= 16, "at least 16 characters long");
const email = matching(EMAIL, "an email address");
const optionalEmail = validText((value) => value === "" || EMAIL.test(value), "an email address");
const singleLine = matching(/^\P{Cc}*$/u, "a single line without control characters");
const publicUrl = mapped(
  url({ without: ["username", "password", "search", "hash"], maxLength: 2000 }),
  (value) => value.replace(/\/+$/, ""),
);
const allowedHosts = list(
  (host) => ALLOWED_HOST.test(host),
  "host names without ports, separated by commas, such as docs.example.org,.example.net, or *",
);
const mailSpelling = matching(/^(?:true|false|True|False|1|0)$/, "true or false");
/** Accepts fewer spellings than `boolean`. */
const mailBoolean: typeof boolean = {
  ...boolean,
  parse: (value) => boolean.parse(mailSpelling.parse(value)),
};

/** Settings of the server, the worker, users and mails, with those of workflows. */
const serviceSettings = {
  PORT: {
    type: integer(0, 65_535, "a port"),
    default: "3000",
    description: "Port of the gateway; 0 selects a free port",
  },
  HOST: { type: text(), default: "127.0.0.1", description: "Address on which the gateway listens" },
  PUBLIC_URL: {
    type: publicUrl,
    documentedDefault: "the host of the request",
    description: "URL at which clients reach the service; links in responses and mails begin with it",
    parameter: { name: "PublicUrl" },
  },
  DJANGO_ALLOWED_HOSTS: {
    type: allowedHosts,
    default: "",
    description:
      "Additional hosts that the gateway accepts in the Host header, separated by commas; `.example.org` includes subdomains, `*` accepts any host. Loopback names, HOST and the host of PUBLIC_URL are always accepted",
  },
  WEFT_DATA_DIR: {
    type: text(),
    default: "./.weft",
    description: "Data folder, which contains all data of the server or worker",
  },
  WEFT_ACCESS_TOKEN: {
    type: accessToken,
    description: "Access token of the owner; if it is not set, the first start creates one",
    isHidden: true,
  },
  WEFT_PLATFORM: {
    type: oneOf("embedded", "aws"),
    default: "embedded",
    description:
      "Where tables, queues, bus and blobs are: `embedded` in the data folder, `aws` at AWS or AWS_ENDPOINT_URL",
  },
  WEFT_STACK: {
    type: matching(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, "the name of a CloudFormation stack"),
    default: "weft",
    description: "Name of the stack whose resources are used, if WEFT_PLATFORM is `aws`",
  },
  WEFT_WORKER: {
    type: boolean,
    default: "true",
    description: "Whether this server also executes steps that use files; false leaves them to `weft worker`",
  },
  ...workflowSettings,
  RECORD_HIGH_WATER_MARKS: {
    type: boolean,
    default: "false",
    description:
      "Whether the server records, in the data folder, the largest value that each limit of AWS was compared with; `weft doctor --aws` prints them",
  },
  WEFT_OWNER_EMAIL: {
    type: email,
    default: "owner@weft.local",
    description: "Email address of the user of the document service to whom WEFT_ACCESS_TOKEN belongs",
    parameter: { name: "OwnerEmail" },
  },
  AI_ALLOW_REACH_FROM: {
    type: oneOf("public", "authenticated", "restricted"),
    default: "authenticated",
    description:
      "Who may use AI functions in a document: everyone who may edit it (`public`), editors who are signed in (`authenticated`), or its members only (`restricted`)",
    parameter: { name: "AiAllowReachFrom" },
  },
  TRASHBIN_CUTOFF_DAYS: {
    type: integer(0, 99_999, "a number of days"),
    default: "30",
    description: "Days after which a deleted document can no longer be restored",
    parameter: { name: "TrashbinCutoffDays" },
  },
  ATTACHMENTS_UNREFERENCED_DAYS: {
    type: integer(1, 3650, "a number of days"),
    default: "7",
    description:
      "Days after which an attachment is deleted that neither the content of a document nor a version of it references any more",
    parameter: { name: "AttachmentsUnreferencedDays", service: "workflows" },
  },
  CLAMAV_ADDRESS: {
    type: socketAddress,
    description:
      "Address of ClamAV's clamd, host:port or the path of its socket, which then scans attachments before they can be opened; not for functions in Lambda",
  },
  ATTACHMENTS_CHECKED_BY_WORKFLOW: {
    type: boolean,
    default: "false",
    description:
      "Whether attachments can be opened only after a workflow has called documents/attachment-verdict/ for them",
    parameter: { name: "AttachmentsCheckedByWorkflow" },
  },
  DOCSPEC_API_URL: {
    type: url({ without: ["username", "password"], maxLength: 2000 }),
    description:
      "URL of a DocSpec server of version 3.0.0 or newer, such as http://docspec:4000/conversion, which then converts imported .docx files",
    parameter: { name: "DocspecApiUrl" },
  },
  CONVERSION_API_TIMEOUT: {
    type: integer(1, 45, "a number of seconds"),
    default: "30",
    description: "Seconds after which a conversion by DOCSPEC_API_URL fails",
    parameter: { name: "ConversionApiTimeout" },
  },
  API_USERS_LIST_LIMIT: {
    type: integer(1, 100),
    default: "5",
    description: "Maximum number of users in the response to a user search",
    parameter: { name: "ApiUsersListLimit", service: "documents" },
  },
  OIDC_OP_URL: {
    type: url(),
    description: "Issuer of the tokens (JWT) that the document service accepts, as in their `iss` claim",
    parameter: { name: "OidcOpUrl", service: "documents" },
  },
  OIDC_OP_JWKS_ENDPOINT: {
    type: url(),
    description: "URL of the issuer's public keys (JWKS)",
    parameter: { name: "OidcOpJwksEndpoint", service: "documents" },
  },
  OIDC_RS_ALLOWED_AUDIENCES: {
    type: list(),
    default: "",
    description:
      "Accepted audiences of the issuer's tokens, separated by commas; without an audience every token is rejected",
    parameter: { name: "OidcRsAllowedAudiences", service: "documents", maxLength: 256 },
  },
  OIDC_TIMEOUT: {
    type: integer(1, 99, "a number of seconds"),
    default: "3",
    description: "Timeout of requests to the issuer, seconds",
    parameter: { name: "OidcTimeout", service: "documents" },
  },
  OIDC_CREATE_USER: {
    type: boolean,
    default: "true",
    description: "Whether the first valid token of an unknown user creates the user",
    parameter: { name: "OidcCreateUser", service: "documents" },
  },
  OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION: {
    type: boolean,
    default: "true",
    description: "Whether a user with an unknown `sub` is identified by email address",
    parameter: { name: "OidcFallbackToEmail", service: "documents" },
  },
  OIDC_ALLOW_DUPLICATE_EMAILS: {
    type: boolean,
    default: "false",
    description: "Whether several users may have the same email address",
    parameter: { name: "OidcAllowDuplicateEmails", service: "documents" },
  },
  OIDC_REQUIRE_EMAIL_VERIFIED: {
    type: boolean,
    default: "true",
    description:
      "Whether the email address of a token requires `email_verified: true`; if false, the claim may also be missing",
    parameter: { name: "OidcRequireEmailVerified", service: "documents" },
  },
  OIDC_ALLOW_OWNER_BY_EMAIL: {
    type: boolean,
    default: "false",
    description: "Whether a token with the owner's email address authenticates the owner",
    parameter: { name: "OidcAllowOwnerByEmail", service: "documents" },
  },
  OIDC_USERINFO_FULLNAME_FIELDS: {
    type: list(),
    default: "first_name,last_name",
    description: "Claims whose values, joined by spaces, are a user's full name, separated by commas",
    parameter: { name: "OidcFullNameFields", service: "documents" },
  },
  OIDC_USERINFO_SHORTNAME_FIELD: {
    type: text(),
    default: "first_name",
    description: "Claim whose value is a user's short name",
    parameter: { name: "OidcShortNameField", service: "documents" },
  },
  DJANGO_EMAIL_HOST: {
    type: singleLine,
    description:
      "SMTP server; without it mails are written to `mail/` in the data folder, and are not sent in Lambda",
    parameter: { name: "EmailHost", service: "workflows" },
  },
  DJANGO_EMAIL_PORT: {
    type: integer(1, 65_535, "a port"),
    default: "25",
    description: "Port of the SMTP server",
    parameter: { name: "EmailPort", service: "workflows" },
  },
  DJANGO_EMAIL_HOST_USER: {
    type: text(),
    description: "User name for the SMTP server, if it requires authentication",
    parameter: { name: "EmailHostUser", service: "workflows" },
  },
  DJANGO_EMAIL_HOST_PASSWORD: {
    type: text(),
    isSecret: true,
    description:
      "Password for the SMTP server; by default the workflow secret DJANGO_EMAIL_HOST_PASSWORD, if it exists",
  },
  DJANGO_EMAIL_USE_TLS: {
    type: mailBoolean,
    default: "false",
    description: "Whether to use STARTTLS",
    parameter: { name: "EmailUseTls", service: "workflows" },
  },
  DJANGO_EMAIL_USE_SSL: {
    type: mailBoolean,
    default: "false",
    description: "Whether to use TLS from the start of the connection",
    parameter: { name: "EmailUseSsl", service: "workflows" },
  },
  DJANGO_EMAIL_FROM: {
    type: validText(isMailAddress, "an email address"),
    default: "from@example.com",
    description: "Sender address of mails",
    parameter: { name: "EmailFrom", service: "workflows" },
  },
  DJANGO_EMAIL_BRAND_NAME: {
    type: singleLine,
    default: "Docs",
    description: "Name of the service in mails",
    parameter: { name: "EmailBrandName", service: "workflows" },
  },
  DJANGO_EMAIL_LOGO_IMG: {
    type: url(),
    description: "URL of the image at the top of mails",
    parameter: { name: "EmailLogoImg", service: "workflows" },
  },
  DJANGO_EMAIL_URL_APP: {
    type: url(),
    documentedDefault: "PUBLIC_URL, or the URL of the gateway",
    description: "URL of the application that links in mails open",
    parameter: { name: "EmailUrlApp", service: "workflows" },
  },
  WORKFLOW_DOCUMENTS_USER: {
    type: optionalEmail,
    default: "",
    description: "Email address of the user as whom workflow scripts access documents; by default the owner",
    parameter: { name: "WorkflowDocumentsUser", service: "workflows" },
  },
  DOCUMENT_SETTINGS: {
    type: text(2000),
    description:
      "Any of the settings below except secrets, as one JSON object of strings; a variable of its own takes precedence",
    parameter: { name: "DocumentSettings", service: "documents", maxLength: 512 },
  },
} satisfies Record<string, Setting>;

/** Every setting by its environment variable. */
export const settings = { ...serviceSettings, ...documentSettings };

export type SettingName = keyof typeof settings;

/** The values of all settings after parsing. */
export type SettingValues = {
  readonly [Name in SettingName]: (typeof settings)[Name] extends {
    readonly type: SettingType<infer Value>;
  }
    ? (typeof settings)[Name] extends { readonly default: string }
      ? Value
      : Value | undefined
    : never;
};

export const SECRETS: readonly string[] = Object.entries<Setting>(settings)
  .filter(([, { isSecret }]) => isSecret)
  .map(([name]) => name);
