import { ApiError, ERROR_STATUS, toApiError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import { type Authenticator, bearerToken } from "./auth.ts";
import { type FileAnswer, fileHeaders } from "./file-answer.ts";
import { MANNERS } from "./manners.ts";
import { lowerCaseHeaders, type ProxyEvent, readAsked, readInput } from "./request.ts";
import {
  type Input,
  isStreamed,
  type ListAnswer,
  OtherAnswer,
  type Principal,
  type Route,
  type ServiceName,
} from "./route.ts";
import type { Throttle } from "./throttle.ts";

export interface ProxyResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Where the body is of bytes. */
  readonly isBase64Encoded?: boolean;
}

/** The stream that Lambda gives a streaming function. */
export interface ResponseStream {
  write(chunk: string | Uint8Array): boolean;
  end(): void;
  once(event: "drain" | "close", listener: () => void): unknown;
}

/** What the Lambda runtime puts into the global scope of a function; the local platform does the same. */
export interface LambdaRuntime {
  streamifyResponse(handler: StreamHandler): Handler;
  HttpResponseStream: {
    from(
      stream: ResponseStream,
      metadata: { statusCode: number; headers: Readonly<Record<string, string>> },
    ): ResponseStream;
  };
}

export interface InvocationContext {
  readonly awsRequestId?: string;
  readonly weft?: unknown;
}

export interface Handler {
  (event: ProxyEvent, context?: InvocationContext): Promise<ProxyResult>;
  /**
   * Authenticates by the event's headers alone, for a gateway that has not read the body yet. The handler does not do
   * it again for the same event.
   */
  authenticate?(event: ProxyEvent, context?: InvocationContext): Promise<Authentication>;
}

/** The response that refuses the request, or whether its caller has a valid token. */
export type Authentication =
  | { readonly refusal: ProxyResult }
  | { readonly refusal?: undefined; readonly isAuthenticated: boolean };
type StreamHandler = (
  event: ProxyEvent,
  stream: ResponseStream,
  context?: InvocationContext,
) => Promise<void>;

/** What every endpoint needs besides what its `run` asks for. */
export interface HttpDeps {
  readonly auth: Authenticator;
  readonly log: Log;
  readonly throttle: Throttle;
  /** Links in responses begin with it, without a slash at the end; with the host of the request if undefined. */
  readonly publicUrl?: string | undefined;
}

/** What `authenticate` leaves with an event for the handler. No JSON has such a key, so no caller can send it. */
const AUTHENTICATED = Symbol("authenticated");

interface AuthenticatedEvent extends ProxyEvent {
  [AUTHENTICATED]?: {
    readonly route: unknown;
    readonly headers: Record<string, string>;
    readonly principal: Principal | undefined;
  };
}

const JSON_HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const;

function headersOf(service: ServiceName, requestId: string): Record<string, string> {
  const { policy } = MANNERS[service];
  const own = policy === undefined ? {} : { "content-security-policy": policy };
  return { ...JSON_HEADERS, ...own, "x-request-id": requestId };
}

/**
 * The Lambda handler of a route. `open` gives the dependencies; the local platform hands over its own in
 * the invocation's context.
 */
export function toHandler<P, Q, B, R, D>(
  route: Route<P, Q, B, R, D>,
  open: () => Promise<D & HttpDeps>,
): Handler {
  const depsOf = (context: InvocationContext | undefined): (D & HttpDeps) | Promise<D & HttpDeps> =>
    context?.weft === undefined ? open() : (context.weft as D & HttpDeps);
  const runtime = (globalThis as { awslambda?: LambdaRuntime }).awslambda;
  const authenticate: Handler["authenticate"] = async (event: AuthenticatedEvent, context) => {
    const opened = depsOf(context);
    const deps = opened instanceof Promise ? await opened : opened;
    const headers = lowerCaseHeaders(event);
    try {
      const principal = await principalOf(route, headers, deps.auth);
      event[AUTHENTICATED] = { route, headers, principal };
      return { isAuthenticated: principal !== undefined };
    } catch (thrown) {
      const error = throttledFailure(route, thrown, event, headers, deps);
      return { refusal: errorResult(route, error, requestIdIn(headers, event, context), deps.log) };
    }
  };
  if (!isStreamed(route) || runtime === undefined) {
    const handler: Handler = async (event, context) => {
      const answer = await answerTo(route, event, context, await depsOf(context));
      return "chunks" in answer ? wholeAnswer(route, answer) : answer;
    };
    return Object.assign(handler, { authenticate });
  }
  const handler = runtime.streamifyResponse(async (event, stream, context) => {
    const deps = await depsOf(context);
    const answer = await answerTo(route, event, context, deps);
    if (!("chunks" in answer)) {
      const out = runtime.HttpResponseStream.from(stream, answer);
      out.write(answer.body);
      out.end();
      return;
    }
    await streamAnswer(route, answer, runtime, stream, deps.log);
  });
  return Object.assign(handler, { authenticate });
}

/** Text or bytes, as they come to be read. */
interface StreamedAnswer {
  readonly status: number;
  readonly chunks: AsyncIterable<string | Uint8Array>;
  readonly headers: Readonly<Record<string, string>>;
}

async function wholeAnswer(
  { list }: Pick<Route, "list">,
  { status, chunks, headers }: StreamedAnswer,
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

async function streamAnswer(
  route: Pick<Route, "service" | "operationId">,
  answer: StreamedAnswer,
  runtime: LambdaRuntime,
  stream: ResponseStream,
  log: Log,
): Promise<void> {
  const chunks = answer.chunks[Symbol.asyncIterator]();
  let first: IteratorResult<string | Uint8Array>;
  try {
    first = await chunks.next();
  } catch (thrown) {
    const failed = errorResult(route, thrown, answer.headers["x-request-id"] ?? "", log);
    const out = runtime.HttpResponseStream.from(stream, failed);
    out.write(failed.body);
    out.end();
    return;
  }
  const { status: statusCode, headers } = answer;
  const out = runtime.HttpResponseStream.from(stream, { statusCode, headers });
  for (let next = first; next.done !== true; next = await chunks.next()) {
    if (!out.write(next.value))
      await new Promise<void>((resolve) => {
        out.once("drain", resolve);
        out.once("close", resolve);
      });
  }
  out.end();
}

async function answerTo<P, Q, B, R, D>(
  route: Route<P, Q, B, R, D>,
  event: AuthenticatedEvent,
  context: InvocationContext | undefined,
  deps: D & HttpDeps,
): Promise<ProxyResult | StreamedAnswer> {
  const known = event[AUTHENTICATED]?.route === route ? event[AUTHENTICATED] : undefined;
  const headers = known?.headers ?? lowerCaseHeaders(event);
  const requestId = requestIdIn(headers, event, context);
  try {
    const principal = known === undefined ? await principalOf(route, headers, deps.auth) : known.principal;
    if (route.throttle !== undefined) deps.throttle.pass(route.throttle, callerOf(principal, event), headers);
    const input = await inputOf(route, event, headers, requestId, principal, deps);
    const result = await route.run(input, deps);
    const answerHeaders = headersOf(route.service, requestId);
    if (route.list === true)
      return {
        status: route.status,
        chunks: listChunks(result as ListAnswer<unknown>),
        headers: answerHeaders,
      };
    if (route.fileTypes !== undefined) {
      const file = result as FileAnswer;
      const headers = given({ ...answerHeaders, ...fileHeaders(file) });
      const { policy } = MANNERS[route.service];
      if (policy !== undefined) headers["content-security-policy"] += `; ${policy}`;
      return { status: file.status ?? route.status, chunks: file.content, headers };
    }
    if (result instanceof OtherAnswer) return otherAnswer(route, result, answerHeaders);
    return {
      statusCode: route.status,
      headers: answerHeaders,
      body: route.status === 204 ? "" : JSON.stringify(result),
    };
  } catch (thrown) {
    const error = throttledFailure(route, thrown, event, headers, deps);
    return errorResult(route, error, requestId, deps.log);
  }
}

/**
 * The error itself, or `too_many_requests` where it is one of too many wrong tokens from an address. Requests with a
 * valid token are never counted or refused here, wherever they come from.
 */
function throttledFailure(
  { auth }: Pick<Route, "auth">,
  thrown: unknown,
  event: ProxyEvent,
  headers: Readonly<Record<string, string>>,
  { throttle }: HttpDeps,
): unknown {
  if (!(thrown instanceof ApiError) || thrown.code !== "unauthorized") return thrown;
  // Routes without authentication of their own check keys and signatures, which may be anywhere in the request.
  if (auth !== "none" && bearerToken(headers["authorization"]) === undefined) return thrown;
  try {
    throttle.pass(
      "failed_authentication",
      networkOf(event.requestContext?.identity?.sourceIp ?? ""),
      headers,
    );
    return thrown;
  } catch (error) {
    return error;
  }
}

/** An IPv4 address, or the /64 network of an IPv6 address: whoever has one has all of it. */
function networkOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address.replace(/^::ffff:/i, "");
  const [start = "", end] = address.split("::", 2);
  const groups = start.split(":");
  const missing = end === undefined ? 0 : 8 - groups.length - end.split(":").length;
  return [...groups, ...Array<string>(Math.max(0, missing)).fill("0"), ...(end ?? "").split(":")]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, "").toLowerCase())
    .join(":");
}

/** What was sent. Throws what the route has to say of whoever asks before what is wrong with it. */
async function inputOf<P, Q, B, R, D>(
  route: Route<P, Q, B, R, D>,
  event: ProxyEvent,
  headers: Record<string, string>,
  requestId: string,
  principal: Principal | undefined,
  deps: D & HttpDeps,
): Promise<Input<P, Q, B>> {
  try {
    return readInput(
      route as unknown as Route<P, Q, B>,
      event,
      headers,
      requestId,
      principal,
      deps.publicUrl,
    );
  } catch (error) {
    if (route.before !== undefined)
      await route.before(readAsked<P>(route, event, headers, requestId, principal, deps.publicUrl), deps);
    throw error;
  }
}

/** Who is counted: a user, wherever from, or else an address. */
function callerOf(principal: Principal | undefined, { requestContext }: ProxyEvent): string {
  return principal === undefined
    ? `from ${requestContext?.identity?.sourceIp ?? ""}`
    : `${principal.kind} ${principal.id}`;
}

const given = (headers: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

function otherAnswer(
  route: Pick<Route, "status">,
  { body, status, contentType, headers }: OtherAnswer,
  common: Readonly<Record<string, string>>,
): ProxyResult {
  const type = contentType === undefined ? {} : { "content-type": contentType };
  const text = contentType === undefined ? JSON.stringify(body) : String(body);
  return { statusCode: status ?? route.status, headers: { ...common, ...headers, ...type }, body: text };
}

/** Who asks. Seed: workflow 5.2; reference: documents 1.0. Throws `unauthorized`, and `forbidden` outside of a token's scopes. */
async function principalOf(
  { auth, service }: Pick<Route, "auth" | "service">,
  headers: Record<string, string>,
  authenticator: Authenticator,
): Promise<Principal | undefined> {
  if (auth === "none") return undefined;
  const header = headers.authorization;
  if (header === undefined) {
    if (auth === "optional") return undefined;
    throw new ApiError("unauthorized", MANNERS[service].missingToken);
  }
  const token = bearerToken(header);
  const principal = token === undefined ? undefined : await authenticator.authenticate(token, service);
  if (principal === undefined) throw new ApiError("unauthorized", "Invalid token");
  if (service !== "root" && principal.scopes?.includes(service) === false)
    throw new ApiError("forbidden", "The token is not meant for this service");
  return principal;
}

/** Any thrown thing as an answer of its service; what the caller may not see goes to the log alone. */
export function errorResult(
  route: Pick<Route, "service" | "operationId">,
  thrown: unknown,
  requestId: string,
  log: Log,
): ProxyResult {
  const error = toApiError(thrown);
  if (ERROR_STATUS[error.code] >= 500) {
    log.error("request failed", { operation: route.operationId, requestId, error: error.cause ?? error });
  }
  const headers: Record<string, string> = headersOf(route.service, requestId);
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(error.retryAfterSeconds);
  if (error.allowed !== undefined) headers.allow = error.allowed.join(", ");
  if (error.code === "unauthorized") headers["www-authenticate"] = "Bearer";
  return {
    statusCode: ERROR_STATUS[error.code],
    headers,
    body: JSON.stringify(error.body ?? MANNERS[route.service].errorBody(error)),
  };
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The caller's request id where it is a sane one, else the gateway's. */
function requestIdIn(
  headers: Record<string, string>,
  event: ProxyEvent,
  context: InvocationContext | undefined,
): string {
  const sent = headers["x-request-id"];
  if (sent !== undefined && REQUEST_ID.test(sent)) return sent;
  return event.requestContext?.requestId ?? context?.awsRequestId ?? "";
}

/** Items whose JSON is put into one chunk of a streamed list at most, characters. */
const CHUNK_CHARS = 256 * 1024;

async function* listChunks({ listing, pagination }: ListAnswer<unknown>): AsyncGenerator<string> {
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
