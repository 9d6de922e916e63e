import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserHeaders } from "#lib/testing/test-sessions.ts";
import { startTestServer, type TestServer } from "../../../lib/testing/test-server.ts";

const PUBLIC_ORIGIN = "https://docs.example.org";

let direct: TestServer;
let behindProxy: TestServer;
beforeAll(async () => {
  direct = await startTestServer();
  behindProxy = await startTestServer({
    env: { PUBLIC_URL: `${PUBLIC_ORIGIN}/weft/`, DJANGO_ALLOWED_HOSTS: "internal.example" },
  });
});
afterAll(() => Promise.all([direct[Symbol.asyncDispose](), behindProxy[Symbol.asyncDispose]()]));

interface Answered {
  readonly status: number;
  readonly location: string | undefined;
  readonly cookies: readonly string[];
  readonly text: string;
}

/** Sends with Node's own client, which permits any Host header. */
const send = (
  { url }: TestServer,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, method, path, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          location: answer.headers.location,
          cookies: answer.headers["set-cookie"] ?? [],
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });

/** The address of a new link of the owner, created on this host. */
async function createLink(server: TestServer, host: string): Promise<URL> {
  const headers = { host, authorization: `Bearer ${server.token}`, "content-type": "application/json" };
  const { text } = await send(server, "POST", "/api/v1.0/login-links/", headers, "{}");
  return new URL((JSON.parse(text) as { url: string }).url);
}

const create = async (server: TestServer, headers: Readonly<Record<string, string>>): Promise<number> => {
  const sent = { ...headers, "content-type": "application/json" };
  return (await send(server, "POST", "/api/v1.0/documents/", sent, "{}")).status;
};

describe("with PUBLIC_URL", () => {
  it("links, redirects and the origin of requests are of PUBLIC_URL, and cookies for HTTPS, on any allowed host", async () => {
    for (const host of ["docs.example.org", "internal.example", "localhost"]) {
      const link = await createLink(behindProxy, host);
      expect(`${link.origin}${link.pathname}`).toBe(`${PUBLIC_ORIGIN}/weft/login`);
      // The proxy removes the first part of the path.
      const opened = await send(behindProxy, "GET", `/login${link.search}`, { host });
      expect([opened.status, opened.location]).toEqual([303, `${PUBLIC_ORIGIN}/weft/`]);
      for (const cookie of opened.cookies) expect(cookie).toContain("; Secure");
      const browser = { ...browserHeaders(opened.cookies).unsafeHeaders, host, origin: PUBLIC_ORIGIN };
      expect(await create(behindProxy, browser)).toBe(201);
      for (const origin of [`http://${host}`, "http://docs.example.org", "https://evil.example"])
        expect(await create(behindProxy, { ...browser, origin })).toBe(403);
    }
  });
});

describe("without PUBLIC_URL", () => {
  it("a page whose name resolves to this machine is refused, even with a session", async () => {
    const own = new URL(direct.url);
    const link = await createLink(direct, own.host);
    expect(link.origin).toBe(own.origin);
    const login = `/login${link.search}`;
    expect((await send(direct, "GET", login, { host: `evil.example:${own.port}` })).status).toBe(400);
    const forged = { host: own.host, "x-forwarded-proto": "https", "x-forwarded-host": "evil.example" };
    const opened = await send(direct, "GET", login, forged);
    expect([opened.status, opened.location]).toEqual([303, "/"]);
    for (const cookie of opened.cookies) expect(cookie).not.toContain("Secure");
    const browser = { ...browserHeaders(opened.cookies).unsafeHeaders, host: own.host, origin: own.origin };
    expect(await create(direct, browser)).toBe(201);
    const host = `evil.example:${own.port}`;
    expect(await create(direct, { ...browser, host, origin: `http://${host}` })).toBe(400);
    const read = await send(direct, "GET", "/api/v1.0/users/me/", { ...browser, host });
    expect(read.status).toBe(400);
    // The same name with another port is another origin.
    expect(await create(direct, { ...browser, origin: "http://127.0.0.1:1" })).toBe(403);
  });
});
