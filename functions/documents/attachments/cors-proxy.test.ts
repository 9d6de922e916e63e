import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openNetwork } from "#lib/network/network.ts";
import { PNG } from "#lib/testing/test-attachments.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";

const LIMIT = 100_000;
const INVALID = [400, { detail: "Invalid URL used." }];

let test: TestDeps;
let strict: TestGateway;
/** Its proxy may reach loopback addresses, where the test's site is. */
let gateway: TestGateway;
let site: Server;
let origin: string;
let id: string;
const received: Record<string, unknown>[] = [];

const PAGES: Readonly<Record<string, RequestListener>> = {
  "/image.png": (incoming, outgoing) => {
    received.push({ ...incoming.headers });
    outgoing.writeHead(203, { "content-type": "Image/PNG; x=y", "set-cookie": "a=b" }).end(PNG);
  },
  "/page": (_, outgoing) => outgoing.writeHead(200, { "content-type": "text/html" }).end("<html>"),
  "/none": (_, outgoing) => outgoing.writeHead(200).end("x"),
  "/missing": (_, outgoing) => outgoing.writeHead(404, { "content-type": "image/png" }).end(),
  "/redirect": (_, outgoing) => outgoing.writeHead(302, { location: "/image.png" }).end(),
  "/large": (_, outgoing) =>
    outgoing
      .writeHead(200, { "content-type": "image/png", "content-length": LIMIT + 1 })
      .end(Buffer.alloc(LIMIT + 1)),
  "/endless": (_, outgoing) => {
    outgoing.writeHead(200, { "content-type": "image/png" });
    const write = (): void => {
      while (!outgoing.destroyed && outgoing.write(Buffer.alloc(50_000)));
      if (!outgoing.destroyed) outgoing.once("drain", write);
    };
    write();
  },
};

beforeAll(async () => {
  site = createServer((incoming, outgoing) => {
    const page = PAGES[incoming.url ?? ""];
    if (page === undefined) outgoing.writeHead(404).end();
    else page(incoming, outgoing);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  test = await testDeps({
    settings: { DOCUMENT_IMAGE_MAX_SIZE: String(LIMIT), API_DOCUMENT_THROTTLE_RATE: "off" },
  });
  strict = await testGateway(test);
  const publicNetwork = openNetwork({ privateAddresses: "allow", loopback: "as private" });
  gateway = await testGateway({ deps: { ...test.deps, publicNetwork } });
  id = (await gateway.request("POST", "/documents/", { body: {} })).body.id;
});
afterAll(async () => {
  await gateway.close();
  await strict.close();
  await test.close();
  site.closeAllConnections();
  await new Promise((resolve) => site.close(resolve));
});

const ask = (url: string, at = gateway) =>
  at.request("GET", `/documents/${id}/cors-proxy/?url=${encodeURIComponent(url)}`);

describe("GET documents/{id}/cors-proxy/", () => {
  it("returns an image without cookies, and tells the site nothing about its caller", async () => {
    const { status, headers, text } = await ask(` ${origin}/image.png `);
    expect([status, text.length > 0]).toEqual([203, true]);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "image/png",
      "content-disposition": "attachment;",
      "x-content-type-options": "nosniff",
    });
    expect(headers.get("content-security-policy")).toMatch(/^sandbox; img-src 'none' data:; /);
    expect(headers.get("set-cookie")).toBeNull();
    expect(Object.keys(received[0] ?? {})).not.toContain("authorization");
    expect((await ask(encodeURIComponent(`${origin}/image.png`))).status).toBe(203);
  });

  it.each(["/page", "/none", "/missing", "/redirect", "/large", "/unknown"])("refuses %s", async (path) => {
    const { status, body } = await ask(`${origin}${path}`);
    expect([status, body]).toEqual(INVALID);
  });

  it("ends a response that is longer than the limit", async () => {
    await expect(ask(`${origin}/endless`)).rejects.toThrow();
  });

  it("requires a URL, before it checks permissions", async () => {
    const { status, body } = await gateway.request("GET", `/documents/${id}/cors-proxy/`, { token: null });
    expect([status, body]).toEqual([400, { detail: "Missing 'url' query parameter" }]);
    expect((await gateway.request("GET", `/documents/${id}/cors-proxy/?url=x`, { token: null })).status).toBe(
      401,
    );
  });

  it.each([
    "x",
    "ftp://example.org/a.png",
    "file:///etc/passwd",
    "gopher://x",
    "javascript:alert(1)",
    "http://",
    "http://a:b@example.org/",
    `http://example.org/${"x".repeat(5000)}`,
  ])("does not accept %s as a URL", async (url) => {
    const { status, body } = await ask(url);
    expect([status, body]).toEqual([400, ["Enter a valid URL."]]);
  });

  it.each([
    "http://127.0.0.1:9001/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://0/",
    "http://localhost/",
    "http://localhost./",
    "http://10.0.0.1/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[fd00:ec2::254]/",
    "http://[64:ff9b::7f00:1]/",
    "http://metadata.google.internal/",
    "http://１２７.0.0.1/",
  ])("does not connect to %s", async (url) => {
    const { status, body } = await ask(url, strict);
    expect([status, body]).toEqual(INVALID);
  });
});
