import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Hocuspocus } from "@hocuspocus/server";
import { type WebSocket, WebSocketServer } from "ws";

// A server to compare with, in its own process: `relay` passes messages on, `hocuspocus` has its defaults and stores
// nothing. Sends its port to the parent process.

const kind = process.argv[2];
const sockets = new WebSocketServer({ noServer: true });
const rooms = new Map<string, Set<WebSocket>>();
const hocuspocus = new Hocuspocus({ quiet: true });

function relay(socket: WebSocket, room: string): void {
  const others = rooms.get(room) ?? new Set<WebSocket>();
  rooms.set(room, others.add(socket));
  socket.on("message", (data) => {
    for (const other of others) if (other !== socket) other.send(data, { binary: true });
  });
  socket.on("close", () => others.delete(socket));
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
    if (kind === "relay") relay(accepted, url.searchParams.get("room") ?? "");
    else collaborate(accepted, request, url);
  });
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit(0));
