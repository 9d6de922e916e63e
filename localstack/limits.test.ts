import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { readHighWaterMarks, startRecording, stopRecording } from "../lib/platform/high-water-marks.ts";
import { LIMITS } from "../lib/platform/limits.ts";
import type { Log } from "../lib/platform/log.ts";
import { type AnyHandler, checkTimeouts, createFunctions } from "./functions.ts";
import { startGateway } from "./gateway.ts";
import type { TemplateFunction } from "./template.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

const fn = (over: Partial<TemplateFunction> = {}): TemplateFunction => ({
  logicalId: "One",
  entry: "one",
  handlerExport: "handler",
  timeoutSeconds: 5,
  memoryMb: 128,
  bodyLimitBytes: LIMITS.requestBytes.value,
  worker: false,
  routes: [],
  sources: [],
  ...over,
});
const route = (stream = false) => ({ method: "POST", path: "/x", stream });

beforeEach(startRecording);
afterEach(stopRecording);

describe("the timeout of functions", () => {
  it.each([
    ["a Lambda function", fn({ timeoutSeconds: 900 }), fn({ timeoutSeconds: 901 }), "handlerSeconds"],
    [
      "a function with buffered responses",
      fn({ timeoutSeconds: 29, routes: [route()] }),
      fn({ timeoutSeconds: 30, routes: [route()] }),
      "httpHandlerSeconds",
    ],
    [
      "a function with streamed responses",
      fn({ timeoutSeconds: 60, routes: [route(true)] }),
      fn({ timeoutSeconds: 901, routes: [route(true)] }),
      "handlerSeconds",
    ],
  ])("is limited for %s", (_, fits, passes, limit) => {
    expect(() => checkTimeouts([fits])).not.toThrow();
    expect(() => checkTimeouts([fits, passes])).toThrow(limit);
    expect(() => checkTimeouts([{ ...passes, worker: true }])).not.toThrow();
  });

  it("above the limits of AWS keeps the gateway from starting", async () => {
    const functions = [fn({ timeoutSeconds: 30, routes: [route()] })];
    const invoke = createFunctions({ root: "/", deps: {} });
    const starting = startGateway({ functions, invoke, log: silent, host: "127.0.0.1", port: 0 });
    await expect(starting).rejects.toMatchObject({ code: "limit_exceeded" });
  });

  it("is compared with the longest invocation, whether it returned, failed, timed out or is a worker", async () => {
    const handlers: Record<string, () => Promise<unknown>> = {
      Answers: () => delay(20),
      Fails: () => delay(20).then(() => Promise.reject(new Error("no"))),
      Hangs: () => new Promise(() => {}),
      Works: () => delay(20),
    };
    const load =
      async ({ logicalId }: TemplateFunction) =>
      () =>
        handlers[logicalId]?.();
    const { start } = createFunctions({ root: "/", deps: {}, load });
    const run = (over: Partial<TemplateFunction>) => start(fn(over), {}, { requestId: "r" }).result;
    await Promise.allSettled([
      run({ logicalId: "Answers" }),
      run({ logicalId: "Fails" }),
      run({ logicalId: "Hangs", timeoutSeconds: 0.05 }),
      run({ logicalId: "Works", worker: true, timeoutSeconds: 0.001 }),
    ]);
    const before = readHighWaterMarks().handlers;
    // Timers may fire a fraction of a millisecond before their time.
    for (const name of ["Answers", "Fails", "Works"]) expect(before[name]).toBeGreaterThan(18);
    expect(before.Hangs).toBeGreaterThanOrEqual(50);
    handlers.Answers = async () => undefined;
    await run({ logicalId: "Answers" });
    expect(readHighWaterMarks().handlers.Answers).toBe(before.Answers);
  });
});

describe("bodies", () => {
  async function serve(
    handler: (event: { body: string }) => unknown,
  ): Promise<(body: string) => Promise<Response>> {
    const gateway = await startGateway({
      functions: [fn({ routes: [route()] })],
      invoke: createFunctions({ root: "/", deps: {}, load: async () => handler as AnyHandler }),
      log: silent,
      host: "127.0.0.1",
      port: 0,
    });
    onTestFinished(() => gateway.close(0));
    return (body) =>
      fetch(`${gateway.url}/x`, { method: "POST", body, headers: { "content-type": "text/plain" } });
  }

  it("above Lambda's payload limit as text are refused, even if API Gateway accepts them", async () => {
    const post = await serve(({ body }) => ({ statusCode: 200, body: String(body.length) }));
    const lines = "\n".repeat(LIMITS.payloadBytes.value / 2);
    expect(await (await post("x".repeat(lines.length))).text()).toBe(String(lines.length));
    expect((await post(lines)).status).toBe(413);
    expect(readHighWaterMarks().limits).toMatchObject({
      requestBytes: lines.length,
      payloadBytes: LIMITS.payloadBytes.value + 2,
    });
  });

  it("above Lambda's payload limit are not valid responses", async () => {
    const post = await serve(({ body }) => ({ statusCode: 200, body: "\n".repeat(Number(body)) }));
    const half = LIMITS.payloadBytes.value / 2;
    expect((await post(String(half - 1))).status).toBe(200);
    expect(readHighWaterMarks().limits.payloadBytes).toBe(LIMITS.payloadBytes.value);
    expect((await post(String(half))).status).toBe(500);
  });
});
