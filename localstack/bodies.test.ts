import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import * as z from "zod";
import type { HttpDeps } from "../lib/http/handler.ts";
import { toHandler } from "../lib/http/handler.ts";
import { defineRoute, type Principal } from "../lib/http/route.ts";
import type { Log } from "../lib/platform/log.ts";
import { workflowsService } from "../lib/workflows/service.ts";
import { type AnyHandler, createFunctions } from "./functions.ts";
import { type Gateway, type GatewayOptions, startGateway } from "./gateway.ts";
import type { TemplateFunction } from "./template.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const KIB = 1024;

let gateway: Gateway | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await gateway?.close(0);
  gateway = undefined;
});

const route = (auth: "required" | "none", path: string) =>
  defineRoute({
    service: workflowsService,
    operationId: `post${auth}`,
    method: "POST",
    summary: "",
    tag: "",
    auth,
    path,
    status: 200,
    response: z.unknown(),
    bodyKind: "raw",
    body: z.custom<{ text: string }>(),
    bodyLimitBytes: 1024 * KIB,
    run: async ({ body }) => ({ length: body.text.length }),
  });

async function serve(limits: GatewayOptions["limits"] = {}): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = [];
  const owner: Principal = { kind: "owner", id: "owner" };
  const deps: HttpDeps = {
    auth: {
      authenticate: async (token) => {
        asked.push(token);
        return token === "good" ? owner : undefined;
      },
      isValid: async () => true,
    },
    log: silent,
    throttle: { pass() {} },
  };
  const open = async () => deps;
  const handlers = [toHandler(route("required", "/private"), open), toHandler(route("none", "/open"), open)];
  const fn = (index: number, path: string): TemplateFunction => ({
    logicalId: path,
    entry: String(index),
    handlerExport: "handler",
    timeoutSeconds: 10,
    memoryMb: 128,
    bodyLimitBytes: 1024 * KIB,
    worker: false,
    sources: [],
    routes: [{ method: "POST", path, stream: false }],
  });
  gateway = await startGateway({
    functions: [fn(0, "/private"), fn(1, "/open")],
    invoke: createFunctions({
      root: "/",
      deps,
      load: async ({ entry }) => handlers[Number(entry)] as AnyHandler,
    }),
    log: silent,
    host: "127.0.0.1",
    port: 0,
    limits,
  });
  return { port: gateway.port, asked };
}

const head = (path: string, fields: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, "Host: localhost", ...fields, "", ""].join("\r\n");

/** What has come when the text matches, or when the connection is closed. */
function exchange(port: number, bytes: string, until: RegExp): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
  sockets.push(socket);
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    text += chunk.toString();
    if (until.test(text)) resolve(text);
  });
  socket.on("close", () => resolve(text));
  return promise;
}

const RESPONDED = /\r\n\r\n\{.*\}$/s;

test.each([
  ["no token", []],
  ["a wrong token", ["Authorization: Bearer wrong"]],
])("refuses %s before the body is received", async (_what, fields) => {
  const { port } = await serve();
  for (const length of [
    "Content-Length: 1000000",
    "Transfer-Encoding: chunked",
    "Content-Length: 99999999999",
  ]) {
    const text = await exchange(port, head("/private", [...fields, length]), RESPONDED);
    expect(text).toMatch(/^HTTP\/1.1 401 /);
    expect(text).toMatch(/^connection: close\r$/im);
  }
});

test("sends no 100 Continue to a client that it refuses", async () => {
  const { port } = await serve();
  const fields = ["Content-Length: 5", "Expect: 100-continue"];
  expect(await exchange(port, head("/private", fields), RESPONDED)).toMatch(/^HTTP\/1.1 401 /);
  const good = head("/private", [...fields, "Authorization: Bearer good"]);
  expect(await exchange(port, good, /100 Continue/)).toMatch(/^HTTP\/1.1 100 Continue/);
});

test("keeps the connection of a refused request whose body is small", async () => {
  const { port } = await serve();
  const refused = `${head("/private", ["Content-Length: 5"])}hello`;
  const next = `${head("/private", ["Content-Length: 5", "Authorization: Bearer good"])}hello`;
  const text = await exchange(port, refused + next, /\{"length":5\}$/);
  expect(text).toMatch(/^HTTP\/1.1 401 [\s\S]*HTTP\/1.1 200 [\s\S]*\{"length":5\}$/);
});

test("authenticates each request once", async () => {
  const { port, asked } = await serve();
  const body = `${head("/private", ["Content-Length: 5", "Authorization: Bearer good"])}hello`;
  await exchange(port, body, RESPONDED);
  expect(asked).toEqual(["good"]);
});

test("limits the bodies of anonymous requests, with 503 beyond the limit", async () => {
  const { port } = await serve({ bodyBytes: { memoryAnonymous: 100 * KIB } });
  const partial = `${head("/open", [`Content-Length: ${90 * KIB}`])}${"x".repeat(80 * KIB)}`;
  void exchange(port, partial, /never/);
  const second = await exchange(port, partial, RESPONDED);
  expect(second).toMatch(/^HTTP\/1.1 503 /);
  expect(second).toMatch(/^retry-after: 1\r$/im);
  // Those with a token have a bound of their own.
  const good = head("/private", [`Content-Length: ${90 * KIB}`, "Authorization: Bearer good"]);
  expect(await exchange(port, good + "x".repeat(90 * KIB), RESPONDED)).toMatch(/^HTTP\/1.1 200 /);
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect
    .poll(() => exchange(port, `${head("/open", ["Content-Length: 51200"])}${"x".repeat(51_200)}`, RESPONDED))
    .toMatch(/^HTTP\/1.1 200 /);
});

test("makes authenticated bodies wait for room", async () => {
  const { port } = await serve({ bodyBytes: { memory: 100 * KIB } });
  const good = head("/private", [`Content-Length: ${90 * KIB}`, "Authorization: Bearer good"]);
  const bodies = await Promise.all(
    Array.from({ length: 20 }, () => exchange(port, good + "x".repeat(90 * KIB), RESPONDED)),
  );
  for (const text of bodies) expect(text).toMatch(/^HTTP\/1.1 200 /);
});
