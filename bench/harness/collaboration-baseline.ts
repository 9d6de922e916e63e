import { fdatasync, openSync, writevSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Hocuspocus } from "@hocuspocus/server";
import { type WebSocket, WebSocketServer } from "ws";

// A server to compare with, in its own process: `relay` passes messages on, `durable-relay` writes them to a file and
// waits for the disk before, `hocuspocus` has its defaults and stores nothing. Sends its port to the parent process.

const [, , kind, folder = "."] = process.argv;
const sockets = new WebSocketServer({ noServer: true });
const rooms = new Map<string, Set<WebSocket>>();
const hocuspocus = new Hocuspocus({ quiet: true });
const file = kind === "durable-relay" ? createFile() : undefined;

function relay(socket: WebSocket, room: string): void {
  const others = rooms.get(room) ?? new Set<WebSocket>();
  rooms.set(room, others.add(socket));
  socket.on("message", (data) => {
    const pass = (): void => {
      for (const other of others) if (other !== socket) other.send(data, { binary: true });
    };
    if (file === undefined) pass();
    else file({ data: data as Buffer, pass });
  });
  socket.on("close", () => others.delete(socket));
}

interface Waiting {
  readonly data: Buffer;
  readonly pass: () => void;
}

/** Writes what has arrived during the last sync together, as group commits do. */
function createFile(): (waiting: Waiting) => void {
  const file = openSync(join(folder, "messages"), "w");
  let waiting: Waiting[] = [];
  let isSyncing = false;
  const sync = (): void => {
    isSyncing = waiting.length > 0;
    if (!isSyncing) return;
    const batch = waiting;
    waiting = [];
    writevSync(
      file,
      batch.map(({ data }) => data),
    );
    fdatasync(file, (error) => {
      if (error !== null) throw error;
      for (const { pass } of batch) pass();
      sync();
    });
  };
  return (message) => {
    waiting.push(message);
    if (!isSyncing) sync();
  };
}

function collaborate(socket: WebSocket, request: IncomingMessage, url: URL): void {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const client = hocuspocus.handleConnection(socket as never, new Request(url, { headers }), {});
  socket.on("message", (data) => client.handleMessage(new Uint8Array(data as Buffer)));
  socket.on("close", (code, reason) => client.handleClose({ code, reason: reason.toString() }));
}

const server = createServer();
server.on("upgrade", (request, socket, head) => {
  const url = new URL(request.url ?? "/", "http://127.0.0.1");
  sockets.handleUpgrade(request, socket, head, (accepted) => {
    accepted.on("error", () => {});
    if (kind === "hocuspocus") collaborate(accepted, request, url);
    else relay(accepted, url.searchParams.get("room") ?? "");
  });
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit(0));
