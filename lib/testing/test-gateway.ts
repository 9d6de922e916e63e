import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openCollaboration } from "../../localstack/collaboration.ts";
import { createFunctions } from "../../localstack/functions.ts";
import { startGateway } from "../../localstack/gateway.ts";
import { installLambdaRuntime } from "../../localstack/lambda-runtime.ts";
import { TEST_TOKEN, type TestDeps, template } from "./test-deps.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BASE = "/api/v1.0";
/** Time for requests in progress, milliseconds. */
const DRAIN_MS = 1_000;

export interface GatewayRequest {
  /** Defaults to the test token; null for none. */
  readonly token?: string | null;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface GatewayResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
  readonly body: any;
}

export interface TestGatewayOptions {
  /** By default a free one. */
  readonly port?: number;
  /** Whether the collaboration server is part of it, as in the server. */
  readonly collaboration?: boolean;
}

export interface TestGateway {
  /** Origin of the gateway. */
  readonly url: string;
  /** Sends a request to a path of the documents API. */
  request(method: string, path: string, asked?: GatewayRequest): Promise<GatewayResponse>;
  /** The OpenAPI document. */
  readonly api: { readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
  close(): Promise<void>;
}

/** The gateway over the functions of the template, with these dependencies. */
export async function testGateway(
  { deps }: Pick<TestDeps, "deps">,
  { port = 0, collaboration: hasCollaboration = false }: TestGatewayOptions = {},
): Promise<TestGateway> {
  installLambdaRuntime();
  const { log } = deps;
  const { functions } = template;
  const invoke = createFunctions({ root: ROOT, deps });
  const collaboration = hasCollaboration
    ? openCollaboration({ functions, invoke, durable: async () => {}, log, deps })
    : undefined;
  const gateway = await startGateway({
    functions,
    invoke,
    log,
    ...(collaboration === undefined ? {} : { upgrades: collaboration.upgrades }),
    host: "127.0.0.1",
    port,
  });
  return {
    url: gateway.url,
    get api() {
      return JSON.parse(readFileSync(join(ROOT, "openapi.json"), "utf8"));
    },
    request: async (method, path, { token = TEST_TOKEN, body, raw, headers = {} } = {}) => {
      const sent = body === undefined ? raw : JSON.stringify(body);
      const response = await fetch(`${gateway.url}${BASE}${path}`, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(sent === undefined ? {} : { body: sent }),
        redirect: "manual",
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        text,
        get body() {
          return text === "" ? undefined : JSON.parse(text);
        },
      };
    },
    close: async () => {
      if (collaboration === undefined) return gateway.close(0);
      deps.liveRequests.stop();
      await Promise.all([collaboration.close(), gateway.close(DRAIN_MS)]);
    },
  };
}
