import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { afterEach, expect, test } from "vitest";
import type { Log } from "../lib/platform/log.ts";
import { type AnyHandler, createFunctions } from "./functions.ts";
import { type Gateway, type GatewayOptions, startGateway } from "./gateway.ts";
import type { UpgradeHandler } from "./upgrades.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

let gateway: Gateway | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await gateway?.close(0);
  gateway = undefined;
});

async function serve(
  upgrades: Readonly<Record<string, UpgradeHandler>>,
  limits: GatewayOptions["limits"] = {},
): Promise<number> {
  const load = async (): Promise<AnyHandler> => () => ({ statusCode: 200, headers: {}, body: "page" });
  gateway = await startGateway({
    functions: [
      {
        logicalId: "Page",
        entry: "page",
        handlerExport: "handler",
        timeoutSeconds: 5,
        memoryMb: 128,
        bodyLimitBytes: 1024,
        worker: false,
        routes: [{ method: "GET", path: "/live", stream: false }],
        sources: [],
      },
    ],
    invoke: createFunctions({ root: "/", deps: {}, load }),
    log: silent,
    host: "127.0.0.1",
    port: 0,
    upgrades: new Map(Object.entries(upgrades)),
    limits,
  });
  return gateway.port;
}

const request = (path: string, { host = "localhost", method = "GET", upgrade = "websocket" } = {}): string =>
  `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`;

interface Client {
  readonly socket: Socket;
  /** All that was received so far. */
  text(): string;
  /** Waits until the received text matches. */
  received(pattern: RegExp): Promise<string>;
  readonly closed: Promise<string>;
}

function open(port: number, bytes: string): Client {
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
  sockets.push(socket);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString();
  });
  socket.on("error", () => {});
  const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(text)));
  const received = async (pattern: RegExp): Promise<string> => {
    await expect.poll(() => text).toMatch(pattern);
    return text;
  };
  return { socket, text: () => text, received, closed };
}

const accept = (socket: Duplex): void =>
  void socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");

const echo: UpgradeHandler = (_request, socket, head, signal) => {
  accept(socket);
  if (head.length > 0) socket.write(head);
  socket.on("data", (chunk: Buffer) => socket.write(chunk));
  socket.on("end", () => socket.end());
  signal.addEventListener("abort", () => socket.end("going away"));
};

test("passes the connection of a registered path to its handler", async () => {
  const port = await serve({ "/live": echo });
  const client = open(port, `${request("/live?document=1")}first`);
  expect(await client.received(/first$/)).toMatch(/^HTTP\/1\.1 101 /);
  client.socket.write(" second");
  await client.received(/first second$/);
  client.socket.end();
  await client.closed;
});

test("returns 404 in the format of the service for other paths, and closes", async () => {
  const port = await serve({ "/live": echo });
  const text = await open(port, request("/other")).closed;
  expect(text).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
  expect(text).toContain("connection: close");
  expect(text).toContain('{"error":true,"message":"Not found"}');
  expect(await open(port, request("/api/v1.0/other")).closed).toContain('{"detail":"Not found"}');
});

test("returns 400 for a host that is not served", async () => {
  const port = await serve({ "/live": echo });
  expect(await open(port, request("/live", { host: "evil.example" })).closed).toMatch(/^HTTP\/1\.1 400 /);
});

test.each([
  ["another protocol", request("/live", { upgrade: "h2c" }), /^HTTP\/1\.1 200 [\s\S]*page$/],
  ["another method", request("/live", { method: "POST" }), /^HTTP\/1\.1 404 /],
])("ignores an upgrade with %s", async (_case, bytes, expected) => {
  const port = await serve({ "/live": echo });
  await open(port, bytes).received(expected);
});

test("ignores upgrades if no path is registered", async () => {
  const port = await serve({});
  await open(port, request("/live")).received(/^HTTP\/1\.1 200 [\s\S]*page$/);
});

test("limits the number of connections, and frees a place when one closes", async () => {
  const port = await serve({ "/live": echo }, { upgradedMax: 2 });
  const clients = [open(port, request("/live")), open(port, request("/live"))] as const;
  for (const client of clients) await client.received(/101/);
  expect(await open(port, request("/live")).closed).toMatch(/^HTTP\/1\.1 503 /);
  clients[0].socket.destroy();
  await expect
    .poll(async () => {
      const client = open(port, request("/live"));
      return client.received(/^HTTP\/1\.1 (101|503)/);
    })
    .toMatch(/^HTTP\/1\.1 101/);
});

test("does not time out an idle upgraded connection", async () => {
  const port = await serve({ "/live": echo }, { stallTimeoutMs: 50 });
  const client = open(port, request("/live"));
  await client.received(/101/);
  await new Promise((resolve) => setTimeout(resolve, 200));
  client.socket.write("still open");
  await client.received(/still open$/);
});

test("destroys the socket of a handler that fails, and serves others", async () => {
  const port = await serve({
    "/live": echo,
    "/fails": async () => {
      throw new Error("failed");
    },
  });
  expect(await open(port, request("/fails")).closed).toBe("");
  await open(port, request("/live")).received(/101/);
});

test("asks handlers to end their connections when it closes", async () => {
  const port = await serve({ "/live": echo });
  const client = open(port, request("/live"));
  await client.received(/101/);
  const startedAt = performance.now();
  await gateway?.close(5000);
  expect(await client.closed).toMatch(/going away$/);
  expect(performance.now() - startedAt).toBeLessThan(4000);
});

test("destroys connections that are open after the time for closing", async () => {
  const port = await serve({ "/live": (_request, socket) => accept(socket) });
  const client = open(port, request("/live"));
  await client.received(/101/);
  await gateway?.close(100);
  await client.closed;
});
