import type * as z from "zod";
import type { ThrottleScope } from "../settings/throttle-rates.ts";
import type { Listing } from "./page.ts";

/** A token without its secret: what outlives a request is bound to it. */
export interface Credential {
  readonly id: string;
  /** Milliseconds since the epoch; undefined if it is valid until it is revoked. */
  readonly expiresAt?: number | undefined;
}

/** Who is asking, as the authentication step found. */
export interface Principal {
  readonly kind: "owner" | "user";
  readonly id: string;
  /** The token that was sent. */
  readonly credential?: Credential;
  /** Services that the token is meant for; all where it says none. */
  readonly scopes?: readonly ServiceName[];
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The services behind the gateway, with the path that their routes start with. */
export const SERVICE_BASE = { root: "", automation: "/automation", documents: "/api/v1.0" } as const;
export type ServiceName = keyof typeof SERVICE_BASE;

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

/** A JSON body that may be larger than memory should hold: the route reads it as it comes. */
export interface LargeBody {
  /** Its length. */
  readonly bytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface RequestInfo {
  readonly requestId: string;
  readonly method: string;
  /** As it was asked for, from the gateway's root on, without the query. */
  readonly path: string;
  readonly principal: Principal | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole address that was asked for, with its query. */
  address(): string;
}

export interface Input<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly request: RequestInfo;
}

/** The answer of a list route: streamed, `data` page by page, `pagination` last. */
export interface ListAnswer<Item> {
  readonly listing: Listing<Item>;
  readonly pagination: { readonly offset: number; readonly limit: number };
}

/** An answer other than the route's own: of another status, or text in place of JSON. */
export class OtherAnswer {
  readonly body: unknown;
  readonly status: 200 | 201 | 202 | undefined;
  /** The body is text of this type. */
  readonly contentType: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    body: unknown,
    options: {
      readonly status?: 200 | 201 | 202;
      readonly contentType?: string;
      readonly headers?: Readonly<Record<string, string>>;
    },
  ) {
    this.body = body;
    this.status = options.status;
    this.contentType = options.contentType;
    this.headers = options.headers ?? {};
  }
}

export interface Route<Params = unknown, Query = unknown, Body = unknown, Response = unknown, Deps = never> {
  readonly service: ServiceName;
  /** Unique; the function's logical name in the template is its PascalCase. */
  readonly operationId: string;
  readonly method: Method | "ANY";
  /** Below the service's base, in API Gateway's form: `/runs/{id}`, `/{proxy+}`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  /** `optional`: anybody, and who it is where a token says so. */
  readonly auth: "token" | "optional" | "none";
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** `raw`: the route takes any text, `bytes`: anything, `large`: JSON in chunks. Default `json`. */
  readonly bodyKind?: "json" | "raw" | "bytes" | "large";
  /** What a large body is, for the OpenAPI document. */
  readonly bodySchema?: z.ZodType;
  /** Content types of a raw body or of bytes, for the OpenAPI document. */
  readonly bodyTypes?: readonly string[];
  readonly bodyLimitBytes?: number;
  readonly status: 200 | 201 | 202 | 204;
  readonly response: z.ZodType<Response>;
  /** A list: `response` is the schema of one item, the answer is streamed. */
  readonly list?: boolean;
  /** Content types of an answer that is a file: `run` gives a FileAnswer, which is streamed. */
  readonly fileTypes?: readonly string[];
  /** Statuses that the route may answer besides 400, 401, 404 and 500. */
  readonly errors?: readonly number[];
  /** Whose requests it counts among, where the settings limit them. */
  readonly throttle?: ThrottleScope;
  /** It also gets requests for methods that paths of its service do not have. */
  readonly otherMethods?: true;
  /** It evaluates scripts: in Lambda, what does so lies beside it. */
  readonly scripts?: true;
  readonly timeoutSeconds?: number;
  readonly memoryMb?: number;
  /** Asked before a request is refused for what is in its query or body: whoever may not ask at all is told that. */
  before?(
    input: { readonly params: NoInfer<Params>; readonly request: RequestInfo },
    deps: NoInfer<Deps>,
  ): Promise<void>;
  run(
    input: Input<Params, Query, Body>,
    deps: Deps,
  ): Promise<NoInfer<Response> | OtherAnswer> | NoInfer<Response> | Promise<ListAnswer<NoInfer<Response>>>;
}

/** Body limit where a route says none, bytes. */
export const BODY_LIMIT_BYTES = 1024 * 1024;
export const ROUTE_TIMEOUT_SECONDS = 29;
export const ROUTE_MEMORY_MB = 512;

/**
 * Defines an endpoint. From this one object come the Lambda handler, the validation and its 400s, the
 * types of `run`, the entry in `openapi.json` and the function in `template.yaml`.
 */
export function defineRoute<Params, Query, Body, Response, Deps>(
  route: Route<Params, Query, Body, Response, Deps>,
): Route<Params, Query, Body, Response, Deps> {
  return route;
}

/** Whether a route's answer is written while it is read. */
export const isStreamed = ({ list, fileTypes }: Pick<Route, "list" | "fileTypes">): boolean =>
  list === true || fileTypes !== undefined;

/** The whole path that a client calls. */
export function fullPath(route: Pick<Route, "service" | "path">): string {
  return `${SERVICE_BASE[route.service]}${route.path}`;
}
