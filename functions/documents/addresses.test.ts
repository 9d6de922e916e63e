import { readdir, readFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, type Owners, startOwners } from "#lib/testing/test-owners.ts";
import { waitUntil } from "../../lib/testing/test-server.ts";

let owners: Owners;
let anna: Caller;
let id: string;
beforeAll(async () => {
  owners = await startOwners();
  ({ anna } = owners);
  id = (await anna.send("POST", "/documents/", { title: "Root" })).id;
  for (const title of ["one", "two", "three"])
    await anna.send("POST", `/documents/${id}/children/`, { title });
});
afterAll(() => owners[Symbol.asyncDispose]());

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends with Node's own client, which permits any Host header. */
const send = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = "",
  token: string | undefined = anna.token,
  origin = owners.server.url,
): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const authorization = token === "" ? {} : { authorization: `Bearer ${token}` };
    const asked = request(
      { hostname, port, method, path, headers: { ...authorization, ...headers } },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
        });
      },
    );
    asked.on("error", reject);
    asked.end(body);
  });
const CHILDREN = () => `/api/v1.0/documents/${id}/children/?page_size=1&page=2`;
const pagesOf = (text: string) => {
  const { next, previous } = JSON.parse(text) as { next: string; previous: string };
  return [next, previous].map((address) => new URL(address));
};

/** The only mail that was sent, with its lines joined. */
async function mailOf(dataDir: string): Promise<string> {
  const folder = join(dataDir, "mail");
  const mail = await waitUntil("the mail", async () => {
    const name = (await readdir(folder).catch(() => [])).find((each) => each.endsWith(".eml"));
    return name === undefined ? undefined : readFile(join(folder, name), "utf8");
  });
  return mail.replace(/=\r?\n/g, "").replaceAll("=3D", "=");
}

describe("the URLs of other pages", () => {
  it.each([
    [{ "x-forwarded-host": "evil.example" }],
    [{ "x-forwarded-server": "evil.example", "x-host": "evil.example" }],
    [{ forwarded: "host=evil.example;proto=https" }],
    [{ "x-original-url": "/evil", "x-rewrite-url": "/evil", "x-original-host": "evil.example" }],
    [{ "x-http-host-override": "evil.example", "x-forwarded-prefix": "//evil.example" }],
    [{ referer: "http://evil.example/", origin: "http://evil.example" }],
  ])("are of the host that was asked, whatever %j says", async (headers) => {
    const { status, text } = await send("GET", CHILDREN(), headers);
    expect(status).toBe(200);
    for (const { origin, pathname } of pagesOf(text))
      expect([origin, pathname]).toEqual([owners.server.url, `/api/v1.0/documents/${id}/children/`]);
    expect(text).not.toContain("evil");
  });

  it.each(["javascript", "data:text/html,x", "file", "a b", "", "https, http", "://", "HTTPS"])(
    "are of a scheme of the web where the way here is said to be %j",
    async (proto) => {
      const { status, text } = await send("GET", CHILDREN(), { "x-forwarded-proto": proto });
      expect(status).toBe(200);
      for (const { protocol, host } of pagesOf(text))
        expect([protocol, host]).toEqual(["http:", new URL(owners.server.url).host]);
    },
  );

  it("have the scheme of the connection, whatever a client's header says", async () => {
    const { text } = await send("GET", CHILDREN(), { "x-forwarded-proto": "https" });
    for (const { origin } of pagesOf(text)) expect(origin).toBe(owners.server.url);
  });

  it("use PUBLIC_URL if it is set, on any allowed host", async () => {
    await using other = await startOwners({
      PUBLIC_URL: "https://docs.example.org/weft/",
      DJANGO_ALLOWED_HOSTS: "internal.example",
    });
    const { id: root } = await other.anna.send("POST", "/documents/", { title: "Root" });
    for (const title of ["one", "two", "three"])
      await other.anna.send("POST", `/documents/${root}/children/`, { title });
    const path = `/api/v1.0/documents/${root}/children/?page_size=1&page=2`;
    for (const host of ["localhost", "docs.example.org", "internal.example"]) {
      const { status, text } = await send("GET", path, { host }, "", other.anna.token, other.server.url);
      expect(status).toBe(200);
      for (const { origin, pathname } of pagesOf(text))
        expect([origin, pathname]).toEqual([
          "https://docs.example.org",
          `/weft/api/v1.0/documents/${root}/children/`,
        ]);
    }
    expect(
      (await send("GET", path, { host: "evil.example" }, "", other.anna.token, other.server.url)).status,
    ).toBe(400);
    const upload = await other.anna.send("POST", `/documents/${root}/content-uploads`, { bytes: 3 });
    expect(upload.url).toMatch(/^https:\/\/docs\.example\.org\/weft\/blob-uploads\//);
    await other.anna.send("POST", `/documents/${root}/invitations/`, {
      email: "guest@example.com",
      role: "reader",
    });
    expect(await mailOf(other.server.dataDir)).toContain(`https://docs.example.org/weft/docs/${root}/`);
  });

  it.each([
    "evil.example/path?x=",
    "evil.example#",
    "user@evil.example",
    "evil.example:999999",
    "[::1",
    "a:b:c",
    "evil.example\\",
    "<script>",
    "'\"",
    "%00",
    "evil.example:80:80",
    "x".repeat(300),
    "..",
  ])("are never made of what is no host: %j", async (host) => {
    const { status, text } = await send("GET", CHILDREN(), { host });
    expect([status, text.includes("evil")]).toEqual([400, false]);
  });

  it("never use another host", async () => {
    for (const host of ["evil.example", "127.0.0.1.evil.example", "192.0.2.7"]) {
      const { status, text } = await send("GET", CHILDREN(), { host });
      expect([status, JSON.parse(text)]).toEqual([400, { detail: expect.stringContaining("ALLOWED_HOSTS") }]);
    }
  });

  it("are not cached by proxies", async () => {
    const { headers } = await send("GET", CHILDREN());
    expect(headers["cache-control"]).toBe("no-store");
  });

  it("use no other host for absolute or malformed request targets", async () => {
    const { port } = new URL(owners.server.url);
    const first = (target: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(port), "127.0.0.1", () => {
          const authorization = `Authorization: Bearer ${anna.token}`;
          socket.end(
            `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization}\r\nConnection: close\r\n\r\n`,
          );
        });
        let text = "";
        socket.on("data", (chunk) => {
          text += chunk.toString();
        });
        socket.on("close", () => resolve(text)).on("error", reject);
      });
    for (const target of [
      `http://evil.example${CHILDREN()}`,
      `//evil.example${CHILDREN()}`,
      `/\\evil.example/..${CHILDREN()}`,
      `//evil.example/%2e%2e`,
      "/api/v1.0/documents",
      `/api/v1.0//documents/${id}`,
    ]) {
      const text = await first(target);
      expect(text, target).toMatch(/^HTTP\/1\.1 (?:200|400|404)/);
      expect(text, target).not.toMatch(/^location:/im);
      expect(text, target).not.toContain("evil");
      if (target.startsWith("http:")) expect(text, target).toMatch(/^HTTP\/1\.1 400/);
    }
  });
});

describe("links in mails", () => {
  it("point to the service, whatever the host of the triggering request", async () => {
    const headers = {
      forwarded: "host=evil.example",
      "x-forwarded-host": "evil.example",
      "content-type": "application/json",
      origin: "http://evil.example",
      referer: "http://evil.example/",
    };
    const body = JSON.stringify({ email: "guest@example.com", role: "reader" });
    const { status } = await send("POST", `/api/v1.0/documents/${id}/invitations/`, headers, body);
    expect(status).toBe(201);
    const mail = await mailOf(owners.server.dataDir);
    expect(mail).toContain("To: guest@example.com");
    expect(mail).not.toContain("evil");
    expect(mail).toContain(`/docs/${id}/?utm_source`);
  });
});

describe("a page of another origin", () => {
  it.each([
    "https://evil.example",
    "null",
    "http://127.0.0.1.evil.example",
    "file://",
    "http://localhost:3000",
    "http://[::1]",
    "",
  ])("is let read nothing from %j", async (origin) => {
    const asked = {
      origin,
      "access-control-request-method": "DELETE",
      "access-control-request-headers": "authorization",
    };
    for (const [method, path] of [
      ["GET", `/api/v1.0/documents/${id}/`],
      ["GET", `/api/v1.0/documents/${id}/content/`],
      ["GET", "/api/v1.0/users/me/"],
      ["GET", "/api/v1.0/config/"],
      ["GET", "/api/v1.0/nowhere/"],
      ["OPTIONS", `/api/v1.0/documents/${id}/`],
      ["OPTIONS", "/api/v1.0/documents/"],
    ] as const) {
      const { headers } = await send(method, path, asked);
      const told = Object.keys(headers).filter((name) => name.startsWith("access-control-"));
      expect([method, path, told]).toEqual([method, path, []]);
    }
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])(
    "changes nothing by a form of %s, with all cookies there are",
    async (type) => {
      const form = { "content-type": type, cookie: `docs_sessionid=${anna.token}; token=${anna.token}` };
      const body = '{"title":"forged"}';
      const before = (await anna.send("GET", "/documents/")).count;
      for (const path of ["documents/", `documents/${id}/children/`, `documents/${id}/duplicate/`])
        expect((await send("POST", `/api/v1.0/${path}`, form, body, "")).status).toBe(401);
      expect((await send("DELETE", `/api/v1.0/documents/${id}/`, form, "", "")).status).toBe(401);
      expect((await anna.send("GET", "/documents/")).count).toBe(before);
    },
  );

  it("changes nothing by safe methods, tokens in URLs, or method override headers", async () => {
    const before = await anna.send("GET", `/documents/${id}/`);
    for (const path of ["move", "restore", "duplicate", "favorite", "mask", "leave", "link-configuration"])
      for (const method of ["GET", "HEAD"])
        expect([404, 405]).toContain((await send(method, `/api/v1.0/documents/${id}/${path}/`)).status);
    const query = `?access_token=${anna.token}&token=${anna.token}`;
    expect((await send("GET", `/api/v1.0/users/me/${query}`, {}, "", "")).status).toBe(401);
    for (const name of ["x-http-method-override", "x-method-override", "x-http-method"]) {
      expect((await send("GET", `/api/v1.0/documents/${id}/`, { [name]: "DELETE" })).status).toBe(200);
      expect([404, 405]).toContain(
        (await send("POST", `/api/v1.0/documents/${id}/`, { [name]: "DELETE" })).status,
      );
    }
    expect(await anna.send("GET", `/documents/${id}/`)).toEqual(before);
  });

  it("learns nothing through a header that rewrites the path", async () => {
    for (const name of ["x-original-url", "x-rewrite-url", "x-forwarded-uri", "x-original-uri"]) {
      const headers = { [name]: `/api/v1.0/documents/${id}/` };
      const config = await send("GET", "/api/v1.0/config/", headers, "", "");
      expect([config.status, config.text.includes(id)]).toEqual([200, false]);
      expect(
        (await send("GET", `/api/v1.0/documents/${id}/`, { [name]: "/api/v1.0/config/" }, "", "")).status,
      ).toBe(401);
    }
  });
});

describe("user-defined text", () => {
  it("is in no response header, with any line breaks", async () => {
    const title = "Plan\r\nSet-Cookie: a=b\r\n\r\n<script>alert(1)</script>";
    const made = await send(
      ...([
        "POST",
        "/api/v1.0/documents/",
        { "content-type": "application/json" },
        JSON.stringify({ title }),
      ] as const),
    );
    expect(made.status).toBe(201);
    const { id: odd } = JSON.parse(made.text) as { id: string };
    for (const path of [
      "",
      "content/",
      "formatted-content/?content_format=%0d%0aSet-Cookie:%20a=b",
      "tree/",
    ]) {
      const { status, headers } = await send("GET", `/api/v1.0/documents/${odd}/${path}`);
      expect(status).toBeLessThan(500);
      expect(headers["set-cookie"]).toBeUndefined();
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(String(headers["content-type"])).not.toContain("html");
    }
  });
});
