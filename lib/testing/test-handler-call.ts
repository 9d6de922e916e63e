import type { Handler } from "../http/handler.ts";
import { type RequestParts, requestOf } from "./test-requests.ts";

export interface CallResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
  readonly json: any;
}

/** Calls a route's handler as API Gateway does. */
export async function call(deps: object, handler: Handler, parts: RequestParts = {}): Promise<CallResult> {
  const answer = await handler(requestOf(parts.method ?? "ANY", parts.path ?? "/", parts), { weft: deps });
  const bytes = Buffer.from(answer.body, answer.isBase64Encoded === true ? "base64" : "utf8");
  const text = bytes.toString("utf8");
  return {
    status: answer.statusCode,
    headers: answer.headers,
    bytes,
    text,
    get json() {
      return JSON.parse(text);
    },
  };
}
