import { ApiError, ERROR_STATUS, toApiError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import { type Authenticator, bearerToken } from "./auth.ts";
import { type FileAnswer, fileHeaders } from "./file-answer.ts";
import { MANNERS } from "./manners.ts";
import { lowerCaseHeaders, type ProxyEvent, readInput } from "./request.ts";
import {
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

export type Handler = (event: ProxyEvent, context?: InvocationContext) => Promise<ProxyResult>;
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
  const depsOf = async (context: InvocationContext | undefined): Promise<D & HttpDeps> =>
    context?.weft === undefined ? open() : (context.weft as D & HttpDeps);
  const runtime = (globalThis as { awslambda?: LambdaRuntime }).awslambda;
  if (!isStreamed(route) || runtime === undefined) {
    return async (event, context) => {
      const answer = await answerTo(route, event, context, await depsOf(context));
      return "chunks" in answer ? wholeAnswer(route, answer) : answer;
    };
  }
  return runtime.streamifyResponse(async (event, stream, context) => {
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
  event: ProxyEvent,
  context: InvocationContext | undefined,
  deps: D & HttpDeps,
): Promise<ProxyResult | StreamedAnswer> {
  const headers = lowerCaseHeaders(event);
  const requestId = requestIdOf(
    headers["x-request-id"],
    event.requestContext?.requestId ?? context?.awsRequestId,
  );
  try {
    const principal = await principalOf(route, headers, deps.auth);
    if (route.throttle !== undefined) deps.throttle.pass(route.throttle, callerOf(principal, event), headers);
    const input = readInput(route as unknown as Route<P, Q, B>, event, headers, requestId, principal);
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
    return errorResult(route, thrown, requestId, deps.log);
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
function requestIdOf(sent: string | undefined, given: string | undefined): string {
  return sent !== undefined && REQUEST_ID.test(sent) ? sent : (given ?? "");
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
