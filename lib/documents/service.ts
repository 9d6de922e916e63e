import type { Service } from "../http/service.ts";
import type { ThrottleScope } from "../settings/throttle-rates.ts";
import { documentErrorFormat } from "./error-format.ts";

/** Directives of Content-Security-Policy that allow nothing. */
const DENY_ALL = [
  "base-uri",
  "child-src",
  "connect-src",
  "default-src",
  "font-src",
  "form-action",
  "frame-ancestors",
  "frame-src",
  "img-src",
  "manifest-src",
  "media-src",
  "object-src",
  "prefetch-src",
  "script-src",
  "style-src",
  "worker-src",
]
  .map((directive) => `${directive} 'none'`)
  .join("; ");

const THROTTLES: readonly ThrottleScope[] = [
  "document",
  "document_updates",
  "document_access",
  "invitation",
  "document_ask_for_access",
  "config",
  "user_list",
  "login",
];

/** The login page, outside of the API: its address is short, because people read and type it. */
export const loginService: Service = {
  name: "login",
  basePath: "",
  errorFormat: documentErrorFormat,
  throttles: ["login"],
};

/** Attachments, outside of the API: documents link to them. Whatever a browser opens there can run nothing. */
export const mediaService: Service = {
  name: "media",
  basePath: "/media",
  errorFormat: documentErrorFormat,
  contentSecurityPolicy: "default-src 'none'",
};

/** The API for other services, with access tokens of the OpenID Connect provider. Reference: documents 1.16. */
export const externalService: Service = {
  name: "external",
  basePath: "/external_api/v1.0",
  errorFormat: documentErrorFormat,
  isBodyOptional: true,
  contentSecurityPolicy: DENY_ALL,
  throttles: THROTTLES,
};

/** The document service as the HTTP layer knows it. */
export const documentsService: Service = {
  name: "documents",
  basePath: "/api/v1.0",
  tokenScope: "documents",
  errorFormat: documentErrorFormat,
  isBodyOptional: true,
  contentSecurityPolicy: DENY_ALL,
  throttles: THROTTLES,
};

/** The conversion service for other document services, whose requests it answers as theirs does. Reference 5.1. */
export const conversionService: Service = {
  name: "conversion",
  basePath: "/api",
  errorFormat: {
    ...documentErrorFormat,
    errorBody: ({ message }) => ({ error: message }),
    errorSchema: {
      name: "ConversionError",
      schema: { type: "object", properties: { error: { type: "string" } }, required: ["error"] },
    },
  },
  contentSecurityPolicy: DENY_ALL,
};
