import type { ProxyEvent } from "../http/request.ts";
import { TEST_TOKEN } from "./test-deps.ts";

export interface RequestParts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  /** Defaults to the test token; null for none. */
  readonly token?: string | null;
  readonly method?: string;
  /** The requested path; defaults to the root. */
  readonly path?: string;
}

/** The event that API Gateway passes to a function for a request. */
export function requestOf(httpMethod: string, path: string, parts: RequestParts = {}): ProxyEvent {
  const { params = null, query = null, headers = {}, body, token = TEST_TOKEN } = parts;
  const isBytes = body instanceof Uint8Array;
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  return {
    httpMethod,
    path,
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    pathParameters: params,
    queryStringParameters: query,
    body: isBytes ? Buffer.from(body).toString("base64") : (text ?? null),
    isBase64Encoded: isBytes,
  };
}
