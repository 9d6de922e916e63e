import type { ProxyEvent } from "../http/request.ts";

interface RequestParts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What the gateway hands to a function for a request with the token of tests. */
export function requestOf(httpMethod: string, path: string, parts: RequestParts = {}): ProxyEvent {
  return {
    httpMethod,
    path,
    headers: { authorization: "Bearer a-token-for-tests-only", ...parts.headers },
    pathParameters: parts.params ?? null,
    queryStringParameters: parts.query ?? null,
    body: parts.body === undefined ? null : JSON.stringify(parts.body),
    isBase64Encoded: false,
  };
}
