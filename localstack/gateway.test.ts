import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { afterEach, beforeAll, expect, test } from "vitest";
import type { LambdaRuntime, ResponseStream } from "../lib/http/handler.ts";
import type { Log } from "../lib/platform/log.ts";
import { type AnyHandler, createFunctions } from "./functions.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import { installLambdaRuntime } from "./lambda-runtime.ts";
import type { RestProxyEvent } from "./proxy-event.ts";
import type { TemplateFunction } from "./template.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

interface Fake {
  readonly route: string;
  readonly handler: (event: RestProxyEvent, ...rest: never[]) => unknown;
  readonly timeoutSeconds?: number;
  readonly bodyLimitBytes?: number;
}

let gateway: Gateway | undefined;
const agents: Agent[] = [];

beforeAll(installLambdaRuntime);
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.destroy();
  await gateway?.close(0);
  gateway = undefined;
});

async function serve(fakes: readonly Fake[], clientTimeoutMs?: number): Promise<number> {
  const functions = fakes.map(({ route, timeoutSeconds, bodyLimitBytes }, index): TemplateFunction => {
    const [method, path] = route.split(" ") as [string, string];
    return {
      logicalId: `Function${index}`,
      entry: String(index),
      handlerExport: "handler",
      timeoutSeconds: timeoutSeconds ?? 5,
      memoryMb: 128,
      bodyLimitBytes: bodyLimitBytes ?? 1024 * 1024,
      worker: false,
      routes: [{ method, path, stream: false }],
      sources: [],
    };
  });
  gateway = await startGateway({
    functions,
    invoke: createFunctions({
      root: "/",
      deps: { deps: true },
      load: async (fn) => fakes[Number(fn.entry)]?.handler as AnyHandler,
    }),
    log: silent,
    host: "127.0.0.1",
    port: 0,
    ...(clientTimeoutMs === undefined ? {} : { clientTimeoutMs }),
  });
  return gateway.port;
}

interface ClientResponse {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

function call(
  port: number,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string | Buffer; agent?: Agent } = {},
): Promise<ClientResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<ClientResponse>();
  const { headers = {}, body, agent } = options;
  const outgoing = request(
    { host: "127.0.0.1", port, method, path, headers, agent: agent ?? false },
    (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    },
  );
  outgoing.on("error", reject);
  outgoing.end(body);
  return promise;
}

/** Everything that the server sends for these bytes, until it closes the connection. */
function raw(port: number, bytes: string | Buffer): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => {});
  socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
  return promise;
}

const echo = (event: RestProxyEvent) => ({ statusCode: 200, headers: {}, body: JSON.stringify(event) });
const named = (name: string) => () => ({ statusCode: 200, headers: {}, body: name });
const eventOf = ({ text }: ClientResponse) => JSON.parse(text) as RestProxyEvent;

test("passes the REST proxy event of API Gateway", async () => {
  const port = await serve([{ route: "POST /automation/runs/{id}/steps", handler: echo }]);
  const response = await call(port, "POST", "/automation/runs/a%2Fb%20c/steps?a=1&a=2&b=%C3%A9&c", {
    headers: { "content-type": "application/json", "x-thing": "1" },
    body: '{"é":1}',
  });
  const event = eventOf(response);
  expect(event).toMatchObject({
    httpMethod: "POST",
    resource: "/automation/runs/{id}/steps",
    path: "/automation/runs/a%2Fb%20c/steps",
    pathParameters: { id: "a/b c" },
    queryStringParameters: { a: "2", b: "é", c: "" },
    multiValueQueryStringParameters: { a: ["1", "2"], b: ["é"], c: [""] },
    headers: { "x-thing": "1", "content-type": "application/json" },
    multiValueHeaders: { "x-thing": ["1"] },
    body: '{"é":1}',
    isBase64Encoded: false,
    requestContext: { stage: "local", identity: { sourceIp: "127.0.0.1" } },
  });
  expect(event.requestContext.requestId).toMatch(/^[0-9a-f-]{36}$/);
});

test("passes null for absent parts of a request", async () => {
  const port = await serve([{ route: "GET /x", handler: echo }]);
  expect(eventOf(await call(port, "GET", "/x"))).toMatchObject({
    pathParameters: null,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    body: null,
    isBase64Encoded: false,
  });
});

test("decodes path parameters once", async () => {
  const port = await serve([{ route: "GET /x/{name}", handler: echo }]);
  expect(eventOf(await call(port, "GET", "/x/%2541")).pathParameters).toEqual({ name: "%41" });
});

test.each([
  ["application/octet-stream", Buffer.from("plain"), true],
  ["application/json", Buffer.from([0xff, 0xfe]), true],
  ["text/yaml; charset=utf-8", Buffer.from("a: é"), false],
  ["application/yaml", Buffer.from("a: 1"), false],
  ["application/x-www-form-urlencoded", Buffer.from("a=1"), false],
  [undefined, Buffer.from("{}"), false],
])("passes a body of type %s as base64 only if it is not text", async (type, body, base64) => {
  const port = await serve([{ route: "POST /x", handler: echo }]);
  const event = eventOf(
    await call(port, "POST", "/x", { headers: type === undefined ? {} : { "content-type": type }, body }),
  );
  expect(event.isBase64Encoded).toBe(base64);
  expect(Buffer.from(event.body ?? "", base64 ? "base64" : "utf8")).toEqual(body);
});

test("routes with and without a trailing slash, specific paths first, greedy ones last", async () => {
  const port = await serve([
    { route: "ANY /automation/{proxy+}", handler: named("automation") },
    { route: "GET /runs/{id}", handler: named("one") },
    { route: "GET /runs/latest", handler: named("latest") },
    { route: "GET /runs/{run}/steps", handler: named("steps") },
    { route: "GET /runs", handler: named("all") },
    { route: "GET /automation/events", handler: named("events") },
    { route: "ANY /{proxy+}", handler: named("rest") },
  ]);
  const expected: Record<string, string> = {
    "/runs": "all",
    "/runs/": "all",
    "/runs/7": "one",
    "/runs/7/": "one",
    "/runs/latest": "latest",
    "/runs/latest/": "latest",
    "/runs/7/steps": "steps",
    "/%72uns/7": "one",
    "/runs//steps": "rest",
    "/runs//": "rest",
    "/automation/events?x": "events",
    "/automation/%65vents": "events",
    "/automation/none/at/all": "automation",
    "/automation/../runs": "automation",
    "/automation": "rest",
    "//runs": "rest",
    "/runs/7/steps/8": "rest",
  };
  const found: Record<string, string> = {};
  for (const path of Object.keys(expected)) found[path] = (await call(port, "GET", path)).text;
  expect(found).toEqual(expected);
});

test("returns 404 for unknown methods and paths", async () => {
  const port = await serve([{ route: "GET /x", handler: named("x") }]);
  for (const [method, path] of [
    ["POST", "/x"],
    ["OPTIONS", "/x"],
    ["GET", "/"],
    ["GET", "/y"],
    ["TRACE", "/x"],
  ] as const) {
    const response = await call(port, method, path);
    expect([method, path, response.status, response.text]).toEqual([
      method,
      path,
      404,
      '{"error":true,"message":"Not found"}',
    ]);
    expect(response.headers["access-control-allow-origin"]).toBeUndefined();
  }
});

test("responds to HEAD as to GET, without the body", async () => {
  const port = await serve([{ route: "GET /x", handler: named("12345") }]);
  const response = await call(port, "HEAD", "/x");
  expect([response.status, response.headers["content-length"], response.text]).toEqual([200, "5", ""]);
});

test("writes status, headers and body of the result, 204 without a body", async () => {
  const port = await serve([
    {
      route: "GET /made",
      handler: () => ({
        statusCode: 201,
        headers: { "x-a": "1" },
        multiValueHeaders: { "set-cookie": ["a=1", "b=2"] },
        body: "é",
      }),
    },
    { route: "DELETE /made", handler: () => ({ statusCode: 204, headers: {}, body: "" }) },
    {
      route: "GET /bytes",
      handler: () => ({ statusCode: 200, headers: {}, body: "AAE=", isBase64Encoded: true }),
    },
  ]);
  const made = await call(port, "GET", "/made");
  expect([made.status, made.headers["x-a"], made.headers["content-length"], made.text]).toEqual([
    201,
    "1",
    "2",
    "é",
  ]);
  expect(made.headers["set-cookie"]).toEqual(["a=1", "b=2"]);
  const gone = await call(port, "DELETE", "/made");
  expect([gone.status, gone.headers["content-length"], gone.text]).toEqual([204, undefined, ""]);
  expect((await call(port, "GET", "/bytes")).text).toBe("\u0000\u0001");
});

test("returns 500 without details if a handler fails", async () => {
  const port = await serve([
    {
      route: "GET /throws",
      handler: () => {
        throw new Error("secret");
      },
    },
    { route: "GET /rejects", handler: async () => Promise.reject(new Error("secret")) },
    { route: "GET /nothing", handler: () => undefined },
    { route: "GET /odd", handler: () => ({ statusCode: 200, headers: {}, body: { a: 1 } }) },
    { route: "GET /split", handler: () => ({ statusCode: 200, headers: { a: "b\r\nc: d" }, body: "" }) },
    {
      route: "GET /huge",
      handler: () => ({ statusCode: 200, headers: {}, body: "x".repeat(7 * 1024 * 1024) }),
    },
    { route: "GET /fine", handler: named("fine") },
  ]);
  for (const path of ["/throws", "/rejects", "/nothing", "/odd", "/split", "/huge"]) {
    const response = await call(port, "GET", path);
    expect([path, response.status, response.text]).toEqual([
      path,
      500,
      '{"error":true,"message":"Internal server error"}',
    ]);
    expect(response.headers.c).toBeUndefined();
  }
  expect((await call(port, "GET", "/fine")).text).toBe("fine");
});

test("returns 504 at the function's timeout, and aborts its signal before", async () => {
  let noticed: unknown;
  const port = await serve([
    {
      route: "GET /hang",
      timeoutSeconds: 0.2,
      handler: (_event, context: { signal: AbortSignal }) =>
        new Promise(() => {
          context.signal.addEventListener("abort", () => {
            noticed = context.signal.reason;
          });
        }),
    },
  ]);
  const response = await call(port, "GET", "/hang");
  expect([response.status, response.text]).toEqual([
    504,
    '{"error":true,"message":"The request took too long"}',
  ]);
  expect(noticed).toMatchObject({ code: "invocation_timeout" });
});

test("passes the dependencies and the request's id to the handler", async () => {
  const port = await serve([
    {
      route: "GET /x",
      handler: (
        event,
        context: { weft: unknown; awsRequestId: string; getRemainingTimeInMillis(): number },
      ) => ({
        statusCode: 200,
        headers: {},
        body: JSON.stringify([
          context.weft,
          context.awsRequestId === event.requestContext.requestId,
          context.getRemainingTimeInMillis() > 4000,
        ]),
      }),
    },
  ]);
  expect((await call(port, "GET", "/x")).text).toBe('[{"deps":true},true,true]');
});

test("refuses a body above the function's limit, by its declared and by its actual length", async () => {
  let calls = 0;
  const handler = () => {
    calls += 1;
    return { statusCode: 200, headers: {}, body: "" };
  };
  const port = await serve([{ route: "POST /x", bodyLimitBytes: 1000, handler }]);
  expect((await call(port, "POST", "/x", { body: "x".repeat(1000) })).status).toBe(200);
  for (const headers of [{}, { "transfer-encoding": "chunked" }]) {
    const response = await call(port, "POST", "/x", { headers, body: "x".repeat(1001) });
    expect([response.status, response.headers.connection, response.text]).toEqual([
      413,
      "close",
      '{"error":true,"message":"The body must be at most 1000 bytes"}',
    ]);
  }
  expect(calls).toBe(1);
});

test("returns 413 before the client has sent the body, and closes", async () => {
  const port = await serve([{ route: "POST /x", bodyLimitBytes: 1000, handler: echo }]);
  const text = await raw(
    port,
    "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nabc",
  );
  expect(text).toMatch(/^HTTP\/1.1 413 /);
  const expecting = await raw(
    port,
    "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n",
  );
  expect(expecting).toMatch(/^HTTP\/1.1 413 /);
});

test("sends 100 Continue to a client that waits for it", async () => {
  const port = await serve([{ route: "POST /x", handler: echo }]);
  const { promise, resolve } = Promise.withResolvers<ClientResponse["status"]>();
  const outgoing = request(
    { host: "127.0.0.1", port, method: "POST", path: "/x", headers: { expect: "100-continue" } },
    (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode ?? 0);
    },
  );
  outgoing.on("continue", () => outgoing.end("{}"));
  outgoing.flushHeaders();
  expect(await promise).toBe(200);
});

const runtime = () => (globalThis as unknown as { awslambda: LambdaRuntime }).awslambda;

const streaming = (handler: Parameters<LambdaRuntime["streamifyResponse"]>[0]) =>
  runtime().streamifyResponse(handler) as unknown as Fake["handler"];

const from = (stream: ResponseStream, statusCode = 200): ResponseStream =>
  runtime().HttpResponseStream.from(stream, { statusCode, headers: { "x-stream": "1" } });

test("streams a response of any size, chunk by chunk", async () => {
  const port = await serve([
    {
      route: "GET /x",
      handler: streaming(async (_event, stream) => {
        const out = from(stream, 202);
        for (let chunk = 0; chunk < 100; chunk += 1) {
          if (!out.write("x".repeat(100_000))) await new Promise<void>((next) => out.once("drain", next));
        }
        out.end();
      }),
    },
  ]);
  const response = await call(port, "GET", "/x");
  expect([response.status, response.headers["x-stream"], response.text.length]).toEqual([
    202,
    "1",
    10_000_000,
  ]);
});

test("aborts a streaming function whose client has disconnected", async () => {
  const ended = Promise.withResolvers<{ error: unknown; aborted: boolean }>();
  const port = await serve([
    {
      route: "GET /x",
      handler: streaming(async (_event, stream, context) => {
        const out = from(stream);
        try {
          for (;;) {
            if (out.write("x".repeat(100_000))) continue;
            await new Promise<void>((next) => {
              out.once("drain", next);
              out.once("close", next);
            });
          }
        } catch (error) {
          ended.resolve({ error, aborted: (context as { signal: AbortSignal }).signal.aborted });
          throw error;
        }
      }),
    },
  ]);
  const socket = connect(port, "127.0.0.1", () => socket.write("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  socket.once("data", () => socket.destroy());
  expect(await ended.promise).toMatchObject({ error: { code: "client_gone" }, aborted: true });
});

test("closes the connection of a stream that fails or times out, so that the client detects the incomplete response", async () => {
  const port = await serve([
    {
      route: "GET /fails",
      handler: streaming(async (_event, stream) => {
        from(stream).write("half");
        throw new Error("no more");
      }),
    },
    {
      route: "GET /hangs",
      timeoutSeconds: 0.2,
      handler: streaming(async (_event, stream) => {
        from(stream).write("half");
        await new Promise(() => {});
      }),
    },
    { route: "GET /silent", handler: streaming(async () => {}) },
  ]);
  await expect(call(port, "GET", "/fails")).rejects.toThrow();
  await expect(call(port, "GET", "/hangs")).rejects.toThrow();
  expect((await call(port, "GET", "/silent")).status).toBe(500);
});

test("refuses malformed requests and serves others", async () => {
  const port = await serve([
    { route: "GET /x/{name}", handler: echo },
    { route: "GET /x", handler: echo },
    { route: "POST /x", handler: echo },
  ]);
  const line = (target: string, headers = "") =>
    `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`;
  const statusOf = async (bytes: string | Buffer) =>
    Number(/^HTTP\/1.1 (\d+) /.exec(await raw(port, bytes))?.[1]);
  expect(await statusOf(line("/x/%zz"))).toBe(400);
  expect(await statusOf(line("/x/%ff"))).toBe(400);
  expect(await statusOf(line("/x/%00"))).toBe(400);
  expect(await statusOf(line("/x/a\0b"))).toBe(400);
  expect(await statusOf(Buffer.from(line("/x/\xff"), "latin1"))).toBe(400);
  expect(await statusOf(line("/x\\y"))).toBe(400);
  expect(await statusOf(line("*"))).toBe(400);
  expect(await statusOf(line("x"))).toBe(400);
  expect(await statusOf(line("http://localhost/x"))).toBe(200);
  expect(await statusOf(line("http://[/x"))).toBe(400);
  expect(await statusOf(line("/../../etc/passwd"))).toBe(404);
  expect(await statusOf(line("/x/../x"))).toBe(404);
  expect(await statusOf(line("/x/é"))).toBe(400);
  expect(await statusOf(line("/x?%zz=%&&=&__proto__=1&constructor=2"))).toBe(200);
  expect(await statusOf(line("/x", "__proto__: 1\r\nset-cookie: a\r\nset-cookie: b\r\n"))).toBe(200);
  expect(await statusOf(line("/x", "a: b\rc: d\r\n"))).toBe(400);
  expect(await statusOf(line("/x", `a: ${"x".repeat(20_000)}\r\n`))).toBe(431);
  expect(await statusOf("GET /x HTTP/1.1\r\nConnection: close\r\n\r\n")).toBe(400);
  expect(await statusOf("GET /x HTTP/1.0\r\n\r\n")).toBe(200);
  expect(await statusOf("GET /x HTTP/1.1\r\nHost: a b/@\r\nConnection: close\r\n\r\n")).toBe(400);
  expect(
    await statusOf(
      "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
  ).toBe(400);
  expect(
    await statusOf("POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n"),
  ).toBe(400);
  expect(await statusOf("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n")).toBe(400);
  expect(eventOf(await call(port, "GET", "/x/still")).pathParameters).toEqual({ name: "still" });
});

test("disconnects clients that send too slowly, without invoking the function", async () => {
  let calls = 0;
  const port = await serve(
    [
      {
        route: "POST /x",
        handler: (event) => {
          calls += 1;
          return echo(event);
        },
      },
    ],
    100,
  );
  expect(await raw(port, "GET /x HTTP/1.1\r\nHo")).toMatch(/^HTTP\/1.1 408 /);
  expect(await raw(port, "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab")).toMatch(
    /^HTTP\/1.1 408 /,
  );
  expect(calls).toBe(0);
});

test("does not invoke the function if the client disconnects within the body", async () => {
  let calls = 0;
  const port = await serve([
    {
      route: "POST /x",
      handler: (event) => {
        calls += 1;
        return echo(event);
      },
    },
  ]);
  const socket = connect(port, "127.0.0.1", () =>
    socket.write("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab", () =>
      socket.destroy(),
    ),
  );
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await call(port, "POST", "/x", { body: "{}" });
  expect(calls).toBe(1);
});

test("serves many connections at once", async () => {
  const port = await serve([{ route: "GET /x/{n}", handler: echo }]);
  const responses = await Promise.all(
    Array.from({ length: 300 }, (_, index) => call(port, "GET", `/x/${index}`)),
  );
  expect(responses.map((response) => eventOf(response).pathParameters?.n)).toEqual(
    Array.from({ length: 300 }, (_, index) => String(index)),
  );
});

test("keeps connections open, and closes them with the last response when it stops", async () => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const port = await serve([
    { route: "GET /fast", handler: named("fast") },
    {
      route: "GET /slow",
      handler: async () => {
        started.resolve();
        await release.promise;
        return { statusCode: 200, headers: {}, body: "done" };
      },
    },
  ]);
  const agent = new Agent({ keepAlive: true });
  agents.push(agent);
  expect((await call(port, "GET", "/fast", { agent })).headers.connection).toBe("keep-alive");
  const slow = call(port, "GET", "/slow", { agent });
  await started.promise;
  const closed = gateway!.close(5000);
  await expect(call(port, "GET", "/fast")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  release.resolve();
  const response = await slow;
  expect([response.text, response.headers.connection]).toEqual(["done", "close"]);
  await closed;
});

test("closes the connections of requests that exceed the time for stopping", async () => {
  const started = Promise.withResolvers<void>();
  const port = await serve([
    {
      route: "GET /hang",
      handler: () => {
        started.resolve();
        return new Promise(() => {});
      },
    },
  ]);
  const hanging = call(port, "GET", "/hang");
  hanging.catch(() => {});
  await started.promise;
  await gateway!.close(50);
  await expect(hanging).rejects.toMatchObject({ code: "ECONNRESET" });
});

test("rejects with the system's error if the port is in use", async () => {
  const port = await serve([]);
  const second = startGateway({
    functions: [],
    invoke: createFunctions({ root: "/", deps: {} }),
    log: silent,
    host: "127.0.0.1",
    port,
  });
  await expect(second).rejects.toMatchObject({ code: "EADDRINUSE" });
});

const head = (target: string, headers = "", method = "GET"): string =>
  `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;

test.each([
  ["a malformed request line", "GARBAGE\r\n\r\n", 400, "The request is malformed"],
  ["a header with a control character", head("/x", "a: b\u0001c\r\n"), 400, "The request is malformed"],
  [
    "a malformed chunk",
    head("/x", "Transfer-Encoding: chunked\r\n", "POST") + "zz\r\n",
    400,
    "The request is malformed",
  ],
  [
    "headers that are too long",
    head("/x", `a: ${"x".repeat(20_000)}\r\n`),
    431,
    "The request line and the headers are too long",
  ],
  ["half a request", "GET /x HTTP/1.1\r\nHo", 408, "The request took too long to arrive"],
  [
    "CONNECT",
    "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
    405,
    "CONNECT is not supported: this server is not a proxy",
  ],
] as const)(
  "refuses %s in the format of the service, and closes the connection",
  async (_what, bytes, status, message) => {
    const port = await serve([{ route: "ANY /x", handler: echo }], 300);
    const [start = "", body = ""] = (await raw(port, bytes)).split("\r\n\r\n");
    expect(start).toMatch(new RegExp(`^HTTP/1.1 ${status} [A-Z]`));
    expect(start.toLowerCase()).toContain("connection: close");
    expect(start.toLowerCase()).toContain("content-type: application/json");
    expect(JSON.parse(body)).toEqual({ error: true, message });
  },
);

test("a malformed request behind another one does not get its response", async () => {
  const port = await serve([{ route: "GET /x", handler: () => new Promise(() => {}), timeoutSeconds: 1 }]);
  expect(await raw(port, `GET /x HTTP/1.1\r\nHost: localhost\r\n\r\nGARBAGE\r\n\r\n`)).not.toContain(
    "malformed",
  );
});

test("accepts chunked bodies with trailers, which do not change the headers", async () => {
  const port = await serve([{ route: "POST /x", handler: echo }]);
  const body = "2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\n\r\n";
  const text = await raw(
    port,
    head("/x", "Connection: close\r\nTransfer-Encoding: chunked\r\n", "POST") + body,
  );
  expect(text).toMatch(/^HTTP\/1.1 200 /);
  const event = JSON.parse(text.split("\r\n\r\n")[1] ?? "") as RestProxyEvent;
  expect(event.body).toBe("{}");
  expect(event.headers).not.toHaveProperty("authorization");
});

test("does not echo the request of TRACE", async () => {
  const port = await serve([{ route: "GET /x", handler: echo }]);
  const text = await raw(port, head("/x", "X-Secret: mirrored\r\nConnection: close\r\n", "TRACE"));
  expect(text).toMatch(/^HTTP\/1.1 404 /);
  expect(text).not.toContain("mirrored");
});
