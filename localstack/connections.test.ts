import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as after } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { type ConnectionLimits, Connections } from "./connections.ts";
import { OutgoingStream, writeResult } from "./response.ts";

const MIB = 1024 * 1024;

let server: Server | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

type Respond = (incoming: IncomingMessage, outgoing: ServerResponse, connections: Connections) => unknown;

async function serve(respond: Respond, limits: ConnectionLimits = {}): Promise<number> {
  const created = createServer((incoming, outgoing) =>
    connections.handle(incoming, outgoing, () => void respond(incoming, outgoing, connections)),
  );
  const connections = new Connections(created, limits);
  server = created;
  await new Promise<void>((resolve) => created.listen(0, "127.0.0.1", resolve));
  return (created.address() as AddressInfo).port;
}

/** Responds with this body as the gateway does. */
const body = (outgoing: ServerResponse, connections: Connections, text: string): void =>
  writeResult(outgoing, { statusCode: 200, headers: {}, body: text }, false, connections);

const openConnections = async (): Promise<number> =>
  server === undefined ? 0 : promisify(server.getConnections.bind(server))();
const requests = (count: number): string =>
  Array.from({ length: count }, (_, index) => `GET /${index} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join("");
const LAST = "GET /last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/** Sends these bytes, and reads until the server closes the connection; reads nothing where `read` is false. */
function client(port: number, bytes: string, read = true): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
  sockets.push(socket);
  if (read) socket.on("data", (chunk) => chunks.push(chunk));
  else socket.pause();
  socket.on("error", () => {});
  socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
  return promise;
}

test("handles pipelined requests one after another, in order, and responds to each", async () => {
  let running = 0;
  let most = 0;
  const port = await serve(async ({ url = "" }, outgoing, connections) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    body(outgoing, connections, `<${url}>`);
  });
  // Several times what is read from the socket at once.
  const count = 5_000;
  const text = await client(port, requests(count) + LAST);
  const expected = Array.from({ length: count }, (_, index) => `</${index}>`);
  expect(text.match(/<[^>]*>/g)).toEqual([...expected, "</last>"]);
  expect(most).toBe(1);
});

test("disconnects a client that does not read, and starts none of its further requests", async () => {
  let started = 0;
  const port = await serve(
    (_incoming, outgoing, connections) => {
      started += 1;
      body(outgoing, connections, "x".repeat(MIB));
    },
    { stallTimeoutMs: 200 },
  );
  for (let index = 0; index < 3; index += 1) void client(port, requests(2_000), false);
  await expect.poll(() => started).toBeGreaterThan(2);
  await expect.poll(openConnections, { timeout: 10_000 }).toBe(0);
  // The kernel takes some megabytes of each before it holds the server back.
  expect(started).toBeLessThan(100);
});

test("waits for a function that takes longer than the stall timeout", async () => {
  const port = await serve(
    async (_incoming, outgoing, connections) => {
      await after(1_000);
      body(outgoing, connections, "late");
    },
    { stallTimeoutMs: 400 },
  );
  expect(await client(port, LAST)).toMatch(/^HTTP\/1.1 200 [\s\S]*late$/);
});

test("closes the connections with the oldest unsent responses if the unsent bytes exceed their limit", async () => {
  let started = 0;
  const port = await serve(
    (_incoming, outgoing, connections) => {
      started += 1;
      body(outgoing, connections, "x".repeat(5 * MIB));
    },
    { unsentMaxBytes: 12 * MIB },
  );
  for (let index = 0; index < 8; index += 1) void client(port, requests(4), false);
  await expect.poll(() => started).toBeGreaterThanOrEqual(8);
  await expect.poll(openConnections).toBeLessThanOrEqual(2);
  // A client that reads is served all the same.
  expect((await client(port, LAST)).length).toBeGreaterThan(5 * MIB);
});

test("closes a connection with too many waiting requests", async () => {
  let started = 0;
  const port = await serve(
    () => {
      started += 1;
    },
    { waitingMax: 100 },
  );
  void client(port, requests(90));
  await expect.poll(() => started).toBe(1);
  expect(await client(port, requests(90))).toBe("");
  expect(await openConnections()).toBe(1);
});

test("reports to a streaming function that its client does not read, and then that it has disconnected", async () => {
  const ended = Promise.withResolvers<number>();
  const port = await serve(
    async (_incoming, outgoing, connections) => {
      const stream = new OutgoingStream(outgoing, () => false, connections);
      let chunks = 0;
      try {
        for (; chunks < 500; chunks += 1)
          if (!stream.write("x".repeat(MIB)))
            await new Promise<void>((resolve) => {
              stream.once("drain", resolve);
              stream.once("close", resolve);
            });
      } catch {
        ended.resolve(chunks);
      }
    },
    { stallTimeoutMs: 200 },
  );
  void client(port, requests(1), false);
  expect(await ended.promise).toBeLessThan(50);
});
