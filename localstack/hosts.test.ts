import { connect } from "node:net";
import { hostname } from "node:os";
import { expect, test } from "vitest";
import type { Log } from "../lib/platform/log.ts";
import { createFunctions } from "./functions.ts";
import { type GatewayOptions, startGateway } from "./gateway.ts";
import type { TemplateFunction } from "./template.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const fn: TemplateFunction = {
  logicalId: "Ping",
  entry: "ping",
  handlerExport: "handler",
  timeoutSeconds: 5,
  memoryMb: 128,
  bodyLimitBytes: undefined,
  worker: false,
  routes: [
    { method: "GET", path: "/automation/ping", stream: false },
    { method: "GET", path: "/api/v1.0/ping", stream: false },
  ],
  sources: [],
};

type Hosts = NonNullable<GatewayOptions["hosts"]>;

/** Statuses and bodies of requests with these heads, one connection each. */
async function responses(
  heads: readonly string[],
  hosts: Partial<Hosts> = {},
  host = "127.0.0.1",
): Promise<{ status: number; body: string }[]> {
  const load = async () => async () => ({ statusCode: 200, headers: {}, body: "pong" });
  const gateway = await startGateway({
    functions: [fn],
    log: silent,
    host,
    port: 0,
    invoke: createFunctions({ root: "/", deps: {}, load }),
    hosts: { publicUrl: undefined, allowedHosts: [], ...hosts },
  });
  try {
    return await Promise.all(heads.map((head) => response(gateway.port, head)));
  } finally {
    await gateway.close(0);
  }
}

function response(port: number, head: string): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  let text = "";
  const socket = connect(port, "127.0.0.1", () => socket.write(`${head}Connection: close\r\n\r\n`));
  socket.on("data", (chunk) => {
    text += chunk.toString();
  });
  socket.on("error", reject);
  socket.on("close", () =>
    resolve({ status: Number(text.split(" ", 2)[1]), body: text.slice(text.indexOf("\r\n\r\n") + 4) }),
  );
  return promise;
}

const to = (host: string, path = "/automation/ping"): string => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n`;
const statuses = async (heads: readonly string[], hosts?: Partial<Hosts>, host?: string) =>
  (await responses(heads, hosts, host)).map(({ status }) => status);

test("accepts loopback names with any port", async () => {
  const names = [
    "localhost",
    "LOCALHOST:80",
    "localhost.",
    "127.0.0.1",
    "127.0.0.1:3000",
    "[::1]",
    "[::1]:9",
  ];
  expect(await statuses(names.map((name) => to(name)))).toEqual(names.map(() => 200));
});

test.each([
  "evil.example",
  "evil.example:3000",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "192.0.2.7",
  "[2001:db8::1]",
  "user@localhost",
  "localhost:99999",
  "localhost:x",
  "localhost/",
  "",
  "[::1",
])("refuses the host %j, in the format of the service", async (host) => {
  const [workflows, documents] = await responses([to(host), to(host, "/api/v1.0/ping")]);
  expect(workflows?.status).toBe(400);
  expect(JSON.parse(workflows?.body ?? "")).toEqual({
    error: true,
    message: expect.stringContaining("Host"),
  });
  expect(documents?.status).toBe(400);
  expect(JSON.parse(documents?.body ?? "")).toEqual({ detail: expect.stringContaining("Host") });
});

test("refuses an unknown host on any path, known or not", async () => {
  const paths = ["/", "/nowhere", "/blob-uploads/x.y", "/automation/ping/"];
  expect(await statuses(paths.map((path) => to("evil.example", path)))).toEqual(paths.map(() => 400));
});

test("requires one Host header of HTTP/1.1", async () => {
  expect(
    await statuses([
      "GET /automation/ping HTTP/1.1\r\n",
      "GET /automation/ping HTTP/1.1\r\nHost: localhost\r\nhOsT: localhost\r\n",
      "GET /automation/ping HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n",
      "GET /automation/ping HTTP/1.0\r\n",
      "GET /automation/ping HTTP/1.0\r\nHost: evil.example\r\n",
    ]),
  ).toEqual([400, 400, 400, 200, 400]);
});

test("checks the host of an absolute request target", async () => {
  const target = (url: string) => `GET ${url}/automation/ping HTTP/1.1\r\nHost: localhost\r\n`;
  const urls = [
    "http://localhost",
    "https://127.0.0.1:1",
    "http://evil.example",
    "http://a@localhost",
    "ftp://localhost",
  ];
  expect(await statuses(urls.map(target))).toEqual([200, 200, 400, 400, 400]);
});

test("accepts the host of the public URL and the allowed hosts", async () => {
  const hosts = {
    publicUrl: "https://Docs.example.org/weft",
    allowedHosts: ["weft", ".Example.net", "192.0.2.7"],
  };
  const accepted = [
    "docs.example.org",
    "weft:3000",
    "example.net",
    "a.b.example.net",
    "192.0.2.7",
    "localhost",
  ];
  const refused = ["example.org", "a.docs.example.org", "badexample.net", "192.0.2.8"];
  expect(
    await statuses(
      [...accepted, ...refused].map((host) => to(host)),
      hosts,
    ),
  ).toEqual([...accepted.map(() => 200), ...refused.map(() => 400)]);
  expect(await statuses([to("any.example"), to("a b")], { allowedHosts: ["*"] })).toEqual([200, 400]);
});

test("accepts IP addresses and the machine's name, but no other name, if it listens on all addresses", async () => {
  const hosts = ["192.0.2.7:3000", "[2001:db8::1]", hostname(), "localhost", "evil.example"];
  expect(
    await statuses(
      hosts.map((host) => to(host)),
      {},
      "0.0.0.0",
    ),
  ).toEqual([200, 200, 200, 200, 400]);
});
