import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { BackendRequest } from "./backend.ts";
import { CollaborationBackend } from "./backend.ts";
import { httpRequests } from "./http-requests.ts";

const DOCUMENT = "3f2b6c1e-8a4d-4a53-9d0e-5b7f6a1c2d3e";

let server: Server;
let url: string;
let respond: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
beforeEach(async () => {
  server = createServer((incoming, outgoing) => respond(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const asked: BackendRequest = { method: "GET", path: "/api/v1.0/users/me/", headers: {}, address: "" };

it("sends the client's cookie and origin and the server's key, and returns status and JSON", async () => {
  const received: unknown[] = [];
  respond = ({ method, url: path, headers }, outgoing) => {
    const { cookie, origin, "x-y-provider-key": key } = headers;
    received.push([method, path, { cookie, origin, key }]);
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(
      JSON.stringify({ id: "id-ann", full_name: "Ann", abilities: { retrieve: true, update: false } }),
    );
  };
  const backend = new CollaborationBackend({ request: httpRequests(`${url}/`), key: "the-key" });
  const credentials = { kind: "cookie", cookie: "docs_sessionid=1", origin: "http://docs.example" } as const;
  expect(await backend.authorize(DOCUMENT, credentials, "")).toMatchObject({
    canRetrieve: true,
    canUpdate: false,
    user: { id: "id-ann", name: "Ann" },
  });
  const headers = { cookie: "docs_sessionid=1", origin: "http://docs.example", key: "the-key" };
  expect(received).toEqual([
    ["GET", `/api/v1.0/documents/${DOCUMENT}/`, headers],
    ["GET", "/api/v1.0/users/me/", headers],
  ]);
});

it("rejects if there is no response in time", async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  respond = (_incoming, outgoing) => void outgoing.on("close", resolve);
  await expect(httpRequests(url, 50)(asked)).rejects.toThrow(/timeout/);
  await closed;
});

it("follows no redirect, which would send the cookie elsewhere", async () => {
  let requests = 0;
  respond = (_incoming, outgoing) => {
    requests += 1;
    outgoing.writeHead(302, { location: `${url}/elsewhere` }).end();
  };
  await expect(httpRequests(url)(asked)).rejects.toThrow();
  expect(requests).toBe(1);
});

it("returns no body for a response that is no JSON", async () => {
  respond = (_incoming, outgoing) => void outgoing.writeHead(502).end("<html>");
  expect(await httpRequests(url)(asked)).toEqual({ status: 502, body: undefined });
});
