import { randomUUID } from "node:crypto";
import type { BackendRequest, BackendResponse, RequestBackend } from "../lib/collaboration/backend.ts";
import type { ProxyResult } from "../lib/http/handler.ts";
import type { Functions } from "./functions.ts";
import type { RestProxyEvent } from "./proxy-event.ts";
import { type GatewayRoute, gatewayRoutes, pathParameters } from "./routes.ts";
import type { TemplateFunction } from "./template.ts";

export interface InProcessOptions {
  readonly functions: readonly TemplateFunction[];
  readonly invoke: Functions;
  /** Resolves when the writes of functions are on disk. */
  readonly durable: () => Promise<void>;
}

/** Sends requests to the template's functions as the gateway does, without a connection. */
export function inProcessRequests({ functions, invoke, durable }: InProcessOptions): RequestBackend {
  const routes = gatewayRoutes(functions).filter(({ greedy }) => !greedy);
  return async (request) => {
    const path = request.path.replace(/\/$/, "");
    const route = routes.find((one) => matches(one, request.method, path));
    if (route === undefined) return { status: 404, body: undefined };
    const requestId = randomUUID();
    const result = await invoke.start(route.fn, eventOf(route, request, path, requestId), { requestId })
      .result;
    if (request.method !== "GET") await durable();
    return toResponse(result as ProxyResult);
  };
}

function matches({ method, segments }: GatewayRoute, requested: string, path: string): boolean {
  const parts = path.slice(1).split("/");
  return (
    method === requested &&
    parts.length === segments.length &&
    segments.every((segment, at) => !("literal" in segment) || segment.literal === parts[at])
  );
}

function eventOf(
  route: GatewayRoute,
  { method, path: asked, headers, body, address }: BackendRequest,
  path: string,
  requestId: string,
): RestProxyEvent {
  return {
    resource: route.resource,
    path: asked,
    httpMethod: method,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: pathParameters(route, path),
    stageVariables: null,
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: {
      requestId,
      accountId: "000000000000",
      apiId: "local",
      stage: "local",
      protocol: "HTTP/1.1",
      httpMethod: method,
      path: asked,
      resourcePath: route.resource,
      requestTimeEpoch: Date.now(),
      identity: { sourceIp: address, userAgent: null },
    },
  };
}

function toResponse({ statusCode, body }: ProxyResult): BackendResponse {
  return { status: statusCode, body: body === "" ? undefined : (JSON.parse(body) as unknown) };
}
