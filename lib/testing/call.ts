import type { Handler } from "../http/handler.ts";
import { TEST_TOKEN } from "./test-deps.ts";

export interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Text and bytes as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** None with null. */
  readonly token?: string | null;
}

export interface Called {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
  readonly json: any;
}

/** Calls a route's handler as API Gateway would. */
export async function call(deps: object, handler: Handler, parts: Call = {}): Promise<Called> {
  const { params = null, query = null, body, headers = {}, token = TEST_TOKEN } = parts;
  const isBytes = body instanceof Uint8Array;
  const sent = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const answer = await handler(
    {
      httpMethod: "ANY",
      path: "/",
      headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
      pathParameters: params,
      queryStringParameters: query,
      body: isBytes ? Buffer.from(body).toString("base64") : (sent ?? null),
      isBase64Encoded: isBytes,
    },
    { weft: deps },
  );
  const bytes = Buffer.from(answer.body, answer.isBase64Encoded === true ? "base64" : "utf8");
  const text = bytes.toString("utf8");
  return {
    ...{ status: answer.statusCode, headers: answer.headers, bytes, text },
    get json() {
      return JSON.parse(text);
    },
  };
}
