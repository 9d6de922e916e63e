import type { Deps } from "../deps.ts";
import { toHandler } from "../http/handler.ts";
import type { Route } from "../http/route.ts";

export interface TestCall {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it stands, all else as JSON. */
  readonly body?: unknown;
  /** Without the owner's token. */
  readonly anonymous?: boolean;
}

/** Calls a route's handler as the gateway does, as the owner. */
export async function call<P, Q, B, R>(
  deps: Deps,
  route: Route<P, Q, B, R, Deps>,
  sent: TestCall = {},
  // biome-ignore lint/suspicious/noExplicitAny: what comes back is looked into by the test
): Promise<{ status: number; body: any }> {
  const { params = {}, query = {}, headers = {}, body, anonymous = false } = sent;
  const { statusCode, body: answer } = await toHandler(
    route,
    async () => deps,
  )({
    httpMethod: route.method,
    path: `/automation${route.path}`,
    headers: { ...(anonymous ? {} : { Authorization: "Bearer a-token-for-tests-only" }), ...headers },
    pathParameters: params,
    queryStringParameters: query,
    body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
    isBase64Encoded: false,
  });
  return { status: statusCode, body: answer === "" ? undefined : JSON.parse(answer) };
}
