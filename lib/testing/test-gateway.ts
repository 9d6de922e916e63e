import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFunctions } from "../../localstack/functions.ts";
import { startGateway } from "../../localstack/gateway.ts";
import { installLambdaRuntime } from "../../localstack/lambda-runtime.ts";
import { readTemplate } from "../../localstack/template.ts";
import { TEST_TOKEN, type TestDeps } from "./test-deps.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BASE = "/api/v1.0";

export interface Asked {
  /** The token of tests where it is left out; none with null. */
  readonly token?: string | null;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined where there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
  readonly body: any;
}

export interface TestGateway {
  /** A request to a path of the documents. */
  ask(method: string, path: string, asked?: Asked): Promise<Answered>;
  /** The OpenAPI document. */
  readonly api: { readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
  close(): Promise<void>;
}

/** The gateway over the functions of the template, which get these dependencies. */
export async function testGateway({ deps }: Pick<TestDeps, "deps">): Promise<TestGateway> {
  installLambdaRuntime();
  const gateway = await startGateway({
    functions: readTemplate(join(ROOT, "template.yaml")).functions,
    invoke: createFunctions({ root: ROOT, deps }),
    ...{ log: deps.log, host: "127.0.0.1", port: 0 },
  });
  return {
    api: JSON.parse(readFileSync(join(ROOT, "openapi.json"), "utf8")),
    ask: async (method, path, { token = TEST_TOKEN, body, raw, headers = {} } = {}) => {
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
        ...{ status: response.status, headers: response.headers, text },
        get body() {
          return text === "" ? undefined : JSON.parse(text);
        },
      };
    },
    close: () => gateway.close(0),
  };
}
