import { ApiError, ERROR_STATUS, toApiError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import { type AuthenticationDeps, authenticateRequest, bearerToken } from "./auth.ts";
import { networkOf } from "./client-network.ts";
import { type FileResponse, fileHeaders } from "./file-response.ts";
import { lowerCaseHeaders, type ProxyEvent, type RequestContext, readInput, readParams } from "./request.ts";
import { HttpResponse, isBodiless } from "./response.ts";
import { type Input, isStreamed, type ListResponse, type Principal, type Route } from "./route.ts";
import type { Service } from "./service.ts";
import { FAILED_AUTHENTICATION, type Throttle } from "./throttle.ts";

export interface ProxyResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers with several values. */
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
  readonly body: string;
  /** True for a body of bytes. */
  readonly isBase64Encoded?: boolean;
}

/** Status and headers of a response, written before its body. */
export type ResponseHead = Pick<ProxyResult, "statusCode" | "headers" | "multiValueHeaders">;

/** The stream that Lambda gives a streaming function. */
export interface ResponseStream {
  write(chunk: string | Uint8Array): boolean;
  end(): void;
  once(event: "drain" | "close", listener: () => void): unknown;
  off(event: "drain" | "close", listener: () => void): unknown;
}

/** What the Lambda runtime puts into the global scope of a function; the local platform does the same. */
export interface LambdaRuntime {
  streamifyResponse(handler: StreamHandler): Handler;
  HttpResponseStream: {
    from(stream: ResponseStream, metadata: ResponseHead): ResponseStream;
  };
}

export interface InvocationContext {
  readonly awsRequestId?: string;
  readonly weft?: unknown;
}

export interface Handler {
  (event: ProxyEvent, context?: InvocationContext): Promise<ProxyResult>;
  /**
   * Authenticates a request by its headers, for a gateway that has not read the body yet. The handler then does not
   * authenticate the same event again.
   */
  authenticate?(event: ProxyEvent, context?: InvocationContext): Promise<Authentication>;
  /** Where responses are streamed, and the route's is: writes the response to a stream. */
  readonly stream?: StreamHandler;
}

/** The response that refuses the request, or whether its caller is authenticated. */
export type Authentication =
  | { readonly refusal: ProxyResult }
  | { readonly refusal?: undefined; readonly isAuthenticated: boolean };
export type StreamHandler = (
  event: ProxyEvent,
  stream: ResponseStream,
  context?: InvocationContext,
) => Promise<void>;

/** Dependencies of every endpoint, besides those of its `run`. */
export interface HttpDeps extends AuthenticationDeps {
  readonly log: Log;
  readonly throttle: Throttle;
  /** Links in responses begin with it, without a slash at the end; with the host of the request if undefined. */
  readonly publicUrl?: string | undefined;
  /** Resolves when everything written is on disk, where writes resolve earlier. */
  readonly durable?: (() => Promise<void>) | undefined;
}

/** The key under which `authenticate` stores its result in an event. A caller cannot send it: JSON has no symbols. */
const AUTHENTICATED = Symbol("authenticated");

interface AuthenticatedEvent extends ProxyEvent {
  [AUTHENTICATED]?: {
    readonly route: unknown;
    readonly headers: Record<string, string>;
    readonly principal: Principal | undefined;
    readonly receivedAt: number;
  };
}

const JSON_HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const;

function commonHeaders({ contentSecurityPolicy }: Service, requestId: string): Record<string, string> {
  const policy =
    contentSecurityPolicy === undefined ? {} : { "content-security-policy": contentSecurityPolicy };
  return { ...JSON_HEADERS, ...policy, "x-request-id": requestId };
}

/**
 * The Lambda handler of a route. `open` gives the dependencies; the local gateway passes its own in the invocation's
 * context.
 */
export function toHandler<P, Q, B, R, D>(
  route: Route<P, Q, B, R, D>,
  open: () => Promise<D & HttpDeps>,
): Handler {
  const depsOf = (context: InvocationContext | undefined): (D & HttpDeps) | Promise<D & HttpDeps> =>
    context?.weft === undefined ? open() : (context.weft as D & HttpDeps);
  const runtime = lambdaRuntime();
  const authenticate: Handler["authenticate"] = async (event: AuthenticatedEvent, context) => {
    const receivedAt = performance.now();
    const opened = depsOf(context);
    const deps = opened instanceof Promise ? await opened : opened;
    const headers = lowerCaseHeaders(event);
    try {
      const principal = await authenticateRequest(route, { method: event.httpMethod, headers }, deps);
      event[AUTHENTICATED] = { route, headers, principal, receivedAt };
      return { isAuthenticated: principal !== undefined };
    } catch (thrown) {
      const error = limitFailedAuthentication(route, thrown, event, headers, deps);
      return { refusal: errorResult(route, error, requestIdOf(headers, event, context), deps.log) };
    }
  };
  if (!isStreamed(route) || runtime === undefined) {
    const handler: Handler = async (event, context) => {
      const response = await respond(route, event, context, await depsOf(context));
      return "chunks" in response ? bufferResponse(route, response) : response;
    };
    return Object.assign(handler, { authenticate });
  }
  const stream: StreamHandler = async (event, out, context) => {
    const deps = await depsOf(context);
    const response = await respond(route, event, context, deps);
    if ("chunks" in response) await streamResponse(route, response, runtime, out, deps.log);
    else writeWhole(runtime, out, response);
  };
  return Object.assign(runtime.streamifyResponse(stream), { authenticate, stream });
}

/** Undefined where responses are not streamed, as in tests of a handler alone. */
export const lambdaRuntime = (): LambdaRuntime | undefined =>
  (globalThis as { awslambda?: LambdaRuntime }).awslambda;

/** The chunks are text or bytes. */
interface StreamedResponse {
  readonly status: number;
  readonly chunks: AsyncIterable<string | Uint8Array>;
  readonly headers: Readonly<Record<string, string>>;
}

async function bufferResponse(
  { list }: Pick<Route, "list">,
  { status, chunks, headers }: StreamedResponse,
): Promise<ProxyResult> {
  if (list === true) {
    let body = "";
    for await (const chunk of chunks) body += String(chunk);
    return { statusCode: status, headers, body };
  }
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return {
    statusCode: status,
    headers,
    body: Buffer.concat(parts).toString("base64"),
    isBase64Encoded: true,
  };
}

/** Writes a response that is not streamed to a stream. */
export function writeWhole(
  runtime: LambdaRuntime,
  stream: ResponseStream,
  { body, isBase64Encoded = false, ...head }: ProxyResult,
): void {
  const out = runtime.HttpResponseStream.from(stream, head);
  out.write(isBase64Encoded ? Buffer.from(body, "base64") : body);
  out.end();
}

async function streamResponse(
  route: Pick<Route, "service" | "operationId">,
  response: StreamedResponse,
  runtime: LambdaRuntime,
  stream: ResponseStream,
  log: Log,
): Promise<void> {
  const chunks = response.chunks[Symbol.asyncIterator]();
  // The producer may wait for long: it ends when the client disconnects, also while the stream has no room.
  const stop = (): void => void chunks.return?.().catch(() => {});
  stream.once("close", stop);
  try {
    let next: IteratorResult<string | Uint8Array>;
    try {
      next = await chunks.next();
    } catch (thrown) {
      writeWhole(runtime, stream, errorResult(route, thrown, response.headers["x-request-id"] ?? "", log));
      return;
    }
    const { status: statusCode, headers } = response;
    const out = runtime.HttpResponseStream.from(stream, { statusCode, headers });
    for (; next.done !== true; next = await chunks.next()) if (!out.write(next.value)) await waitForRoom(out);
    out.end();
  } finally {
    stream.off("close", stop);
    stop();
  }
}

/** Resolves when the stream accepts data again, or is closed. */
function waitForRoom(stream: ResponseStream): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      stream.off("drain", settle);
      stream.off("close", settle);
      resolve();
    };
    stream.once("drain", settle);
    stream.once("close", settle);
  });
}

async function respond<P, Q, B, R, D>(
  route: Route<P, Q, B, R, D>,
  event: AuthenticatedEvent,
  context: InvocationContext | undefined,
  deps: D & HttpDeps,
): Promise<ProxyResult | StreamedResponse> {
  const startedAt = performance.now();
  const known = event[AUTHENTICATED]?.route === route ? event[AUTHENTICATED] : undefined;
  const headers = known?.headers ?? lowerCaseHeaders(event);
  const requestId = requestIdOf(headers, event, context);
  try {
    const principal =
      known === undefined
        ? await authenticateRequest(route, { method: event.httpMethod, headers }, deps)
        : known.principal;
    if (route.throttle !== undefined)
      deps.throttle.pass(route.throttle, callerKey(principal, event), headers);
    const { publicUrl } = deps;
    const receivedAt = known?.receivedAt ?? startedAt;
    const asked = { event, headers, requestId, principal, receivedAt, publicUrl };
    const input = await inputOf(route, asked, deps);
    const result = await route.run(input, deps);
    const common = commonHeaders(route.service, requestId);
    if (result instanceof HttpResponse) return toProxyResult(route, result, common);
    if (route.list === true)
      return { status: route.status, chunks: listChunks(result as ListResponse<unknown>), headers: common };
    if (route.fileTypes !== undefined) return toStreamedFile(route, result as FileResponse, common);
    return {
      statusCode: route.status,
      headers: common,
      body: isBodiless(route.status) ? "" : JSON.stringify(result),
    };
  } catch (thrown) {
    const error = limitFailedAuthentication(route, thrown, event, headers, deps);
    return errorResult(route, error, requestId, deps.log);
  }
}

/**
 * Returns the error itself, or `too_many_requests` if its address has sent too many invalid tokens. Requests with a
 * valid token are neither counted nor refused here.
 */
function limitFailedAuthentication(
  { auth }: Pick<Route, "auth">,
  thrown: unknown,
  event: ProxyEvent,
  headers: Readonly<Record<string, string>>,
  { throttle }: HttpDeps,
): unknown {
  if (!(thrown instanceof ApiError) || thrown.code !== "unauthorized") return thrown;
  // Routes without authentication check keys and signatures themselves, anywhere in the request.
  if (auth !== "none" && bearerToken(headers["authorization"]) === undefined) return thrown;
  try {
    throttle.pass(FAILED_AUTHENTICATION, networkOf(event.requestContext?.identity?.sourceIp ?? ""), headers);
    return thrown;
  } catch (error) {
    return error;
  }
}

/** Validates a request. If it is invalid, `before` runs first, so that an unauthorized caller is refused as such. */
async function inputOf<P, Q, B, R, D>(
  route: Route<P, Q, B, R, D>,
  context: RequestContext,
  deps: D,
): Promise<Input<P, Q, B>> {
  try {
    return readInput(route as unknown as Route<P, Q, B>, context);
  } catch (error) {
    if (route.before !== undefined) await route.before(readParams<P>(route, context), deps);
    throw error;
  }
}

/** Requests are counted for each principal, or for each address if they are anonymous. */
function callerKey(principal: Principal | undefined, { requestContext }: ProxyEvent): string {
  return principal === undefined
    ? `from ${requestContext?.identity?.sourceIp ?? ""}`
    : `${principal.kind} ${principal.id}`;
}

function toStreamedFile(
  { status, service }: Pick<Route, "status" | "service">,
  file: FileResponse,
  common: Readonly<Record<string, string>>,
): StreamedResponse {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...common, ...fileHeaders(file) }))
    if (value !== undefined) headers[name] = value;
  if (service.contentSecurityPolicy !== undefined)
    headers["content-security-policy"] += `; ${service.contentSecurityPolicy}`;
  return { status: file.status ?? status, chunks: file.content, headers };
}

function toProxyResult(
  route: Pick<Route, "status">,
  { body, status = route.status, contentType, headers, cookies }: HttpResponse,
  common: Readonly<Record<string, string>>,
): ProxyResult {
  const type = contentType === undefined ? {} : { "content-type": contentType };
  const text = contentType === undefined ? JSON.stringify(body) : String(body);
  return {
    statusCode: status,
    headers: { ...common, ...headers, ...type },
    ...(cookies.length === 0 ? {} : { multiValueHeaders: { "set-cookie": cookies } }),
    body: isBodiless(status) ? "" : text,
  };
}

/** The error response of a route's service. Internal errors are logged and not shown to the caller. */
export function errorResult(
  route: Pick<Route, "service" | "operationId">,
  thrown: unknown,
  requestId: string,
  log: Log,
): ProxyResult {
  const error = toApiError(thrown);
  if (ERROR_STATUS[error.code] >= 500) {
    log[error.isExpected ? "info" : "error"]("request failed", {
      operation: route.operationId,
      requestId,
      error: error.cause ?? error,
    });
  }
  const headers = commonHeaders(route.service, requestId);
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(error.retryAfterSeconds);
  if (error.allowed !== undefined) headers.allow = error.allowed.join(", ");
  if (error.code === "unauthorized") headers["www-authenticate"] = "Bearer";
  return {
    statusCode: ERROR_STATUS[error.code],
    headers,
    body: JSON.stringify(error.body ?? route.service.errorFormat.errorBody(error)),
  };
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The request id that the caller sent if it is valid, else the gateway's. */
function requestIdOf(
  headers: Record<string, string>,
  event: ProxyEvent,
  context: InvocationContext | undefined,
): string {
  const sent = headers["x-request-id"];
  if (sent !== undefined && REQUEST_ID.test(sent)) return sent;
  return event.requestContext?.requestId ?? context?.awsRequestId ?? "";
}

/** A chunk of a streamed list is sent when its JSON is longer than this, characters. */
const CHUNK_CHARS = 256 * 1024;

async function* listChunks({ listing, pagination }: ListResponse<unknown>): AsyncGenerator<string> {
  let chunk = '{"data":[';
  let separator = "";
  for await (const page of listing.items) {
    for (const item of page) {
      chunk += separator + JSON.stringify(item);
      separator = ",";
      if (chunk.length > CHUNK_CHARS) {
        yield chunk;
        chunk = "";
      }
    }
  }
  const end = { total: listing.total, offset: pagination.offset, limit: pagination.limit };
  yield `${chunk}],"pagination":${JSON.stringify(end)}}`;
}
