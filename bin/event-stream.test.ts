import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Connection, connectTo } from "./connection.ts";
import { readStream, type StreamEvent } from "./event-stream.ts";

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

let responses: Respond[];
let lastIds: (string | undefined)[];
let connection: Connection;
const server = createServer((request, response) => {
  lastIds.push(request.headers["last-event-id"] as string | undefined);
  responses.shift()?.(request, response);
});

beforeEach(async () => {
  responses = [];
  lastIds = [];
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  connection = connectTo({ url, token: "t", source: "a test" }, {});
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const send =
  (...parts: string[]): Respond =>
  (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const part of parts) response.write(part);
  };
const status =
  (code: number): Respond =>
  (_, response) => {
    response.writeHead(code, { "content-type": "application/json" });
    response.end('{"error":true,"message":"no"}');
  };

test("continues after the last event when the connection ends, breaks or is refused for a while", async () => {
  responses = [
    (request, response) => {
      send('retry: 500\n\nid: 1\n\nid: 2\nevent: event\ndata: {"a":', '"é"}\n\nid: 3\nevent: ev')(
        request,
        response,
      );
      response.end();
    },
    (request, response) => {
      send("id: 5\n\n")(request, response);
      setImmediate(() => response.destroy());
    },
    status(503),
    send('id: 6\nevent: event\ndata: {"a":2}\n\n'),
  ];
  const received: StreamEvent[] = [];
  const lost: string[] = [];
  for await (const event of readStream(connection, "/s", { onLost: ({ message }) => lost.push(message) })) {
    received.push(event);
    if (received.length === 2) break;
  }
  expect(received).toEqual([
    { name: "event", data: { a: "é" } },
    { name: "event", data: { a: 2 } },
  ]);
  expect(lastIds).toEqual([undefined, "2", "5", "5"]);
  expect(lost.length).toBeGreaterThan(0);
});

test("throws if the first connection fails, or a later one for good", async () => {
  responses = [status(503)];
  await expect(readStream(connection, "/s").next()).rejects.toThrow("The server returned 503: no");
  responses = [(_, response) => response.writeHead(200).end("event: event\ndata: 1\n\n"), status(401)];
  const events = readStream(connection, "/s");
  expect((await events.next()).value).toEqual({ name: "event", data: 1 });
  await expect(events.next()).rejects.toThrow("The server returned 401: no");
});

test("ends when its signal is aborted", async () => {
  responses = [send("event: event\ndata: 1\n\n")];
  const controller = new AbortController();
  const events = readStream(connection, "/s", { signal: controller.signal });
  await events.next();
  const next = events.next();
  controller.abort();
  expect((await next).done).toBe(true);
});
