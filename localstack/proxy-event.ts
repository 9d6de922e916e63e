import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { parse as parseQuery } from "node:querystring";
import type { ProxyEvent } from "../lib/http/request.ts";
import type { RequestTarget } from "./request-target.ts";
import { type GatewayRoute, pathParameters } from "./routes.ts";

/** The event of API Gateway's REST proxy integration (payload version 1.0). */
export interface RestProxyEvent extends ProxyEvent {
  readonly resource: string;
  readonly multiValueHeaders: Readonly<Record<string, readonly string[] | undefined>>;
  readonly multiValueQueryStringParameters: Readonly<Record<string, readonly string[]>> | null;
  readonly stageVariables: null;
  readonly requestContext: {
    readonly requestId: string;
    readonly accountId: string;
    readonly apiId: string;
    readonly stage: string;
    readonly protocol: string;
    readonly httpMethod: string;
    readonly path: string;
    readonly resourcePath: string;
    readonly requestTimeEpoch: number;
    readonly identity: { readonly sourceIp: string; readonly userAgent: string | null };
  };
}

/** Bodies of these types are passed as text, others as base64, as by API Gateway. */
const TEXT_TYPE =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|ya?ml|xml|x-ya?ml|x-www-form-urlencoded|javascript)\b)/i;

/** Limit of names in a query string; further ones are dropped. */
const QUERY_NAMES_MAX = 1000;

/** A body that is not decoded as text: its file, its chunks, or the stream that it is received from. */
type LargeBody = Pick<ProxyEvent, "bodyFile" | "bodyParts" | "bodyStream">;

/** Adds the body to an event. */
export function setBody(event: RestProxyEvent, body: Buffer | undefined, large: LargeBody | undefined): void {
  const isText = body === undefined || isTextBody(event.headers?.["content-type"], body);
  const filled: { -readonly [Name in keyof RestProxyEvent]: RestProxyEvent[Name] } = event;
  filled.body = body === undefined ? null : body.toString(isText ? "utf8" : "base64");
  filled.isBase64Encoded = !isText;
  Object.assign(filled, large);
}

/** Builds a function's event without its body. Header names are in lower case; a repeated one is joined as Node joins it. */
export function proxyEvent(
  route: GatewayRoute,
  target: RequestTarget,
  incoming: IncomingMessage,
  requestId: string,
): RestProxyEvent {
  return new GatewayEvent(route, target, incoming, requestId);
}

/** A class: creating an object literal with accessors takes thirty times as long. */
class GatewayEvent implements RestProxyEvent {
  readonly resource: string;
  readonly path: string;
  readonly httpMethod: string;
  readonly headers: RestProxyEvent["headers"];
  readonly queryStringParameters: RestProxyEvent["queryStringParameters"];
  readonly pathParameters: RestProxyEvent["pathParameters"];
  readonly stageVariables = null;
  readonly body: string | null = null;
  readonly isBase64Encoded: boolean = false;
  readonly requestContext: RestProxyEvent["requestContext"];
  readonly #incoming: IncomingMessage;
  readonly #query: ParsedQuery | null;

  constructor(route: GatewayRoute, target: RequestTarget, incoming: IncomingMessage, requestId: string) {
    const query =
      target.query === "" ? null : parseQuery(target.query, "&", "=", { maxKeys: QUERY_NAMES_MAX });
    this.resource = route.resource;
    this.path = target.path;
    this.httpMethod = incoming.method ?? "GET";
    this.headers = singleHeaders(incoming);
    this.queryStringParameters = query && lastValues(query);
    this.pathParameters = pathParameters(route, target.routePath);
    this.requestContext = {
      requestId,
      accountId: "000000000000",
      apiId: "local",
      stage: "local",
      protocol: `HTTP/${incoming.httpVersion}`,
      httpMethod: this.httpMethod,
      path: target.path,
      resourcePath: route.resource,
      requestTimeEpoch: Date.now(),
      identity: {
        sourceIp: incoming.socket.remoteAddress ?? "",
        userAgent: incoming.headers["user-agent"] ?? null,
      },
    };
    this.#incoming = incoming;
    this.#query = query;
  }

  // Few functions read the lists, so they are created on demand.
  get multiValueHeaders(): RestProxyEvent["multiValueHeaders"] {
    return this.#incoming.headersDistinct;
  }

  get multiValueQueryStringParameters(): RestProxyEvent["multiValueQueryStringParameters"] {
    return this.#query && allValues(this.#query);
  }

  toJSON(): RestProxyEvent {
    const { multiValueHeaders, multiValueQueryStringParameters } = this;
    return { ...this, multiValueHeaders, multiValueQueryStringParameters };
  }
}

function isTextBody(contentType: string | undefined, body: Buffer): boolean {
  return (contentType === undefined || TEXT_TYPE.test(contentType)) && isUtf8(body);
}

type ParsedQuery = ReturnType<typeof parseQuery>;

/** Without `X-Forwarded-Proto`, which API Gateway sets itself: clients must not choose it. */
function singleHeaders(incoming: IncomingMessage): Readonly<Record<string, string | undefined>> {
  const headers = incoming.headers;
  if (headers["set-cookie"] === undefined && headers["x-forwarded-proto"] === undefined)
    return headers as Readonly<Record<string, string | undefined>>;
  const { "set-cookie": cookies, "x-forwarded-proto": _, ...others } = headers;
  // The only header that Node gives as a list; it has no meaning in a request.
  const joined = cookies === undefined ? {} : { "set-cookie": cookies.join(", ") };
  return { ...others, ...joined } as Readonly<Record<string, string | undefined>>;
}

function lastValues(query: ParsedQuery): Record<string, string> {
  const values = Object.create(null) as Record<string, string>;
  for (const name in query) {
    const value = query[name];
    values[name] = (Array.isArray(value) ? value.at(-1) : value) ?? "";
  }
  return values;
}

function allValues(query: ParsedQuery): Record<string, readonly string[]> {
  const values = Object.create(null) as Record<string, readonly string[]>;
  for (const name in query) {
    const value = query[name];
    values[name] = Array.isArray(value) ? value : [value ?? ""];
  }
  return values;
}
