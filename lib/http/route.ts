import type * as z from "zod";
import type { FileResponse } from "./file-response.ts";
import type { Listing } from "./page.ts";
import type { HttpResponse, StatusCode } from "./response.ts";
import type { Service } from "./service.ts";

/** Identifies a token or a session without its secret: what outlives a request is bound to it. */
export interface Credential {
  readonly id: string;
  /** Milliseconds since the epoch; undefined if it is valid until it is revoked. */
  readonly expiresAt?: number | undefined;
}

/** `owner`: the installation's own token; `user`: a person; `service`: another program of the installation. */
export type PrincipalKind = "owner" | "user" | "service";

/** The authenticated caller of a request. */
export interface Principal {
  readonly kind: PrincipalKind;
  readonly id: string;
  /** What the request was authenticated with. */
  readonly credential?: Credential;
  /** The `tokenScope` of each service that the caller may use; all services if undefined. */
  readonly scopes?: readonly string[];
}

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A body that the route reads itself: the text as sent, and its content type without parameters. */
export interface RawBody {
  readonly text: string;
  readonly contentType: string;
}

/** A body of any bytes, and its content type with its parameters. */
export interface BytesBody {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** A JSON body that may not fit into memory: the route reads it in chunks. */
export interface LargeBody {
  /** Its length. */
  readonly bytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A form of parts, which may be files: the route reads it in chunks. */
export interface MultipartBody extends LargeBody {
  /** With its parameters. */
  readonly contentType: string;
}

export interface RequestInfo {
  readonly requestId: string;
  readonly method: string;
  /** The requested path from the gateway's root, without the query. */
  readonly path: string;
  readonly principal: Principal | undefined;
  /** A time before its caller was authenticated, milliseconds of `performance.now()`. */
  readonly receivedAt: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The IP address of the client, as the gateway saw it; empty if unknown. */
  readonly clientAddress: string;
  /** The requested URL, with its query. */
  address(): string;
}

export interface Input<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly request: RequestInfo;
}

/** The response of a list route: streamed, `data` page by page, `pagination` last. */
export interface ListResponse<Item> {
  readonly listing: Listing<Item>;
  readonly pagination: { readonly offset: number; readonly limit: number };
}

/** Principals that may call a route that declares none. */
export const DEFAULT_CALLERS: readonly PrincipalKind[] = ["owner", "user"];

export interface Route<Params = unknown, Query = unknown, Body = unknown, Response = unknown, Deps = never> {
  readonly service: Service;
  /** Unique; the function's logical name in the template is its PascalCase. */
  readonly operationId: string;
  readonly method: Method | "ANY";
  /** Below the service's base path, in API Gateway's form: `/runs/{id}`, `/{proxy+}`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  /** Whether a caller must be authenticated. `optional`: anonymous requests pass, invalid credentials do not. */
  readonly auth: "required" | "optional" | "none";
  /** Kinds of principals that may call it; others get a 403. Default: owner and users. */
  readonly callers?: readonly PrincipalKind[];
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /**
   * `raw`: the route takes any text, `bytes`: anything, `large`: JSON in chunks, `multipart`: a form in
   * chunks, `json or multipart`: a form in chunks, or else JSON, as `body` describes. Default `json`.
   */
  readonly bodyKind?: "json" | "raw" | "bytes" | "large" | "multipart" | "json or multipart";
  /** The schema of a large body or of a form, for the OpenAPI document. */
  readonly bodySchema?: z.ZodType;
  /** Content types of a raw body or of bytes, for the OpenAPI document. */
  readonly bodyTypes?: readonly string[];
  readonly bodyLimitBytes?: number;
  /** The status of a response that is not an `HttpResponse`. */
  readonly status: StatusCode;
  readonly response: z.ZodType<Response>;
  /** The body of a response with status 202, if `run` may return one. */
  readonly accepted?: z.ZodType;
  /** A list: `response` is the schema of one item, the response is streamed. */
  readonly list?: boolean;
  /**
   * Content types of a file: `run` returns a FileResponse, which is streamed. `response` is the schema of its JSON, if it
   * has one.
   */
  readonly fileTypes?: readonly string[];
  /** Error statuses of the route besides 400, 401, 404 and 500. */
  readonly errors?: readonly number[];
  /** False for routes that are not part of the API, such as files of a page: the OpenAPI document omits them. */
  readonly includeInSchema?: false;
  /** One of its service's throttle scopes: the routes of a scope share each caller's rate. */
  readonly throttle?: string;
  /** It also receives requests for methods that the paths of its service do not have. */
  readonly otherMethods?: true;
  /** It evaluates scripts: in Lambda, its bundle contains the script engines. */
  readonly scripts?: true;
  readonly timeoutSeconds?: number;
  readonly memoryMb?: number;
  /**
   * Called before a request with an invalid query or body is refused, to authorize its caller: an unauthorized caller
   * gets the error that this throws (401, 403 or 404) instead of the issues.
   */
  before?(
    input: { readonly params: NoInfer<Params>; readonly request: RequestInfo },
    deps: NoInfer<Deps>,
  ): Promise<void>;
  run(
    input: Input<Params, Query, Body>,
    deps: Deps,
  ):
    | Promise<NoInfer<Response> | HttpResponse>
    | NoInfer<Response>
    | HttpResponse
    | Promise<ListResponse<NoInfer<Response>>>
    | Promise<FileResponse>;
}

/** Default body limit, bytes. */
export const BODY_LIMIT_BYTES = 1024 * 1024;
export const ROUTE_TIMEOUT_SECONDS = 29;
export const ROUTE_MEMORY_MB = 512;

/**
 * Defines an endpoint. The Lambda handler, the validation and its 400s, the types of `run`, the entry in `openapi.json`
 * and the function in `template.yaml` are derived from this object.
 */
export function defineRoute<Params, Query, Body, Response, Deps>(
  route: Route<Params, Query, Body, Response, Deps>,
): Route<Params, Query, Body, Response, Deps> {
  return route;
}

/** Whether a route reads its body in chunks: it may be larger than Lambda's payload limit. */
export const isLargeBody = ({ bodyKind }: Pick<Route, "bodyKind">): boolean =>
  bodyKind === "large" || bodyKind === "multipart" || bodyKind === "json or multipart";

/** Whether a route's response is written while it is produced. */
export const isStreamed = ({ list, fileTypes }: Pick<Route, "list" | "fileTypes">): boolean =>
  list === true || fileTypes !== undefined;

/** The path that a client calls. */
export function fullPath({ service, path }: Pick<Route, "service" | "path">): string {
  return `${service.basePath}${path}`;
}
