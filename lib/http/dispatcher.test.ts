import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { beforeEach, expect, it, vi } from "vitest";
import { stubLambdaRuntime } from "../testing/test-lambda-runtime.ts";
import { toDispatcher } from "./dispatcher.ts";
import type { Handler, ResponseHead, ResponseStream, StreamHandler } from "./handler.ts";
import type { ProxyEvent } from "./request.ts";

let heads: readonly ResponseHead[];
beforeEach(() => {
  heads = stubLambdaRuntime();
});

const event = (httpMethod: string): ProxyEvent => ({
  httpMethod,
  path: "/things",
  headers: null,
  pathParameters: null,
  queryStringParameters: null,
  body: null,
  isBase64Encoded: false,
});
const whole: Handler = async () => ({ statusCode: 201, headers: { "x-own": "1" }, body: "created" });
const streamed: Handler = Object.assign(async () => Promise.reject(new Error("not streamed")), {
  stream: async (_event: ProxyEvent, out: ResponseStream) => {
    out.write("in ");
    out.write("chunks");
    out.end();
  },
});
const call = (handler: Handler, durable: () => Promise<void>, out: PassThrough, method = "POST") =>
  (toDispatcher(async () => ({ handler, context: { weft: { durable } } })) as unknown as StreamHandler)(
    event(method),
    out,
  );

it("acknowledges a change only after it is on disk", async () => {
  const out = new PassThrough();
  const { promise: onDisk, resolve } = Promise.withResolvers<void>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const durable = (): Promise<void> => {
    ask();
    return onDisk;
  };
  const called = call(whole, durable, out);
  await asked;
  expect([heads, out.readableLength]).toEqual([[], 0]);
  resolve();
  await called;
  expect([heads, await text(out)]).toEqual([[{ statusCode: 201, headers: { "x-own": "1" } }], "created"]);
});

it("waits for nothing before it answers a GET", async () => {
  const out = new PassThrough();
  await call(whole, () => Promise.reject(new Error("waited")), out, "GET");
  expect(await text(out)).toBe("created");
});

it("lets a handler that streams write to the stream itself", async () => {
  const out = new PassThrough();
  await call(streamed, async () => {}, out, "GET");
  expect(await text(out)).toBe("in chunks");
});

it("returns the whole response where responses are not streamed", async () => {
  vi.stubGlobal("awslambda", undefined);
  const handler = toDispatcher(async () => ({ handler: whole, context: { weft: {} } }));
  expect(await handler(event("POST"))).toMatchObject({ statusCode: 201, body: "created" });
  expect(await handler.authenticate?.(event("POST"))).toEqual({ isAuthenticated: false });
});
