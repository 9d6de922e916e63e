import { PassThrough } from "node:stream";
import { buffer } from "node:stream/consumers";
import { isStreaming, type LocalResponseStream, START } from "../../localstack/lambda-runtime.ts";
import type { Handler, InvocationContext, ProxyResult, ResponseHead } from "../http/handler.ts";
import type { ProxyEvent } from "../http/request.ts";
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
  const answer = await invokeHandler(handler, requestOf(parts.method ?? "ANY", parts.path ?? "/", parts), {
    weft: deps,
  });
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

/** Invokes a handler, streaming or not, and returns its complete response. */
export async function invokeHandler(
  handler: Handler,
  event: ProxyEvent,
  context: InvocationContext,
): Promise<ProxyResult> {
  if (!isStreaming(handler)) return handler(event, context);
  let head: ResponseHead | undefined;
  const body = new PassThrough();
  const stream: LocalResponseStream = Object.assign(body, {
    [START]: (received: ResponseHead) => {
      head = received;
    },
  });
  const streaming = handler as unknown as (
    event: ProxyEvent,
    stream: LocalResponseStream,
    context: InvocationContext,
  ) => Promise<void>;
  const [bytes] = await Promise.all([buffer(body), streaming(event, stream, context)]);
  if (head === undefined) throw new Error("the handler returned no response");
  return { ...head, body: bytes.toString("base64"), isBase64Encoded: true };
}
