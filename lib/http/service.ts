import type * as z from "zod";
import type { ApiError } from "../errors.ts";

/** A part of a request that does not satisfy its route's schema. */
export interface ValidationIssue {
  readonly part: "path" | "query" | "body";
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** How a service reports errors to its clients. */
export interface ErrorFormat {
  /** The message of a validation issue; zod's own if undefined. */
  readonly issueMessage: z.core.$ZodErrorMap;
  /** The message of a 401 to a request without credentials. */
  readonly missingCredentials: string;
  /** The JSON body of an error response. */
  errorBody(error: Pick<ApiError, "message">): unknown;
  /** The schema of that body in the OpenAPI document, and its name there. */
  readonly errorSchema: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> };
  /** The error of a request whose body, query or path does not satisfy its schema. */
  validationError(issues: readonly ValidationIssue[]): ApiError;
  /** The error of invalid path parameters, if it differs from `validationError`. */
  invalidPathError?(): ApiError;
  unsupportedMediaTypeError(contentType: string): ApiError;
  /** Rewords the message about a body that is not valid JSON. */
  jsonErrorMessage?(message: string): string;
}

/** A service behind the gateway. Each service defines its own, and its routes refer to it. */
export interface Service {
  readonly name: string;
  /** Its routes' paths begin with it; empty, or a slash and no slash at the end. */
  readonly basePath: string;
  /** What a restricted token must include among its scopes; any token is accepted if undefined. */
  readonly tokenScope?: string;
  readonly errorFormat: ErrorFormat;
  /** A request without a body counts as one with an empty JSON object. */
  readonly isBodyOptional?: true;
  /** The `Content-Security-Policy` of its responses. */
  readonly contentSecurityPolicy?: string;
  /** Scopes that its routes may name in `throttle`. */
  readonly throttles?: readonly string[];
}

/** The service whose base path a path begins with: of several, the one with the longest. */
export function serviceAt<Found extends Pick<Service, "basePath">>(
  services: readonly Found[],
  path: string,
): Found | undefined {
  return services
    .filter(({ basePath }) => `${path}/`.startsWith(`${basePath}/`))
    .toSorted((one, other) => other.basePath.length - one.basePath.length)[0];
}
