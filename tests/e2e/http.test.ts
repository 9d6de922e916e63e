import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";

let weft: TestServer;
beforeAll(async () => {
  weft = await startTestServer();
});
afterAll(() => weft[Symbol.asyncDispose]());

/** Paths that support GET. */
const READABLE = [
  "/assets",
  "/event-logs",
  "/event-receiver/status",
  "/event-receiver/workflows",
  "/workflows",
  "/runs",
  "/dead-letters",
];

const error = (message: string | RegExp) => ({
  error: true,
  message: typeof message === "string" ? message : expect.stringMatching(message),
});

describe("seed 5: the bearer token", () => {
  test.each([...READABLE, "/no/such/path", "/runs/none/steps"])(
    "GET %s without a token returns 401",
    async (path) => {
      const answer = await weft.call("GET", path, { token: null });
      expect([answer.status, answer.json]).toEqual([401, error(/authorization/i)]);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    },
  );

  test.each([
    ["a wrong token", "Bearer wrong"],
    ["no scheme", "0123456789"],
    ["another scheme", "Basic dXNlcjpwYXNz"],
    ["an empty token", "Bearer "],
    ["a token of 100,000 characters", `Bearer ${"x".repeat(10_000)}`],
  ])("%s returns 401, even if the body or the path is invalid", async (_name, authorization) => {
    const options = { token: null, headers: { authorization }, body: "{" };
    for (const path of ["/events/emit", "/workflows", "/nowhere"]) {
      const answer = await weft.call("POST", path, options);
      expect([path, answer.status, answer.json]).toEqual([path, 401, error(/./)]);
    }
  });

  test("the scheme is case-insensitive", async () => {
    const answer = await weft.call("GET", "/runs", {
      token: null,
      headers: { authorization: `bearer ${weft.token}` },
    });
    expect(answer.status).toBe(200);
  });

  test("health and openapi.json require no token", async () => {
    const live = await weft.call("GET", "//health", { token: null });
    expect([live.status, live.json]).toEqual([200, { status: "ok" }]);
    const ready = await weft.call("GET", "//health/ready", { token: null });
    expect([ready.status, ready.json]).toEqual([
      200,
      {
        status: "ready",
        checks: { tables: "ok", queues: "ok" },
        collaboration: { status: "ok", rooms: expect.any(Number), connections: expect.any(Number) },
      },
    ]);
    const page = await weft.call("GET", "//docs", { token: null });
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    for (const [, file] of page.text.matchAll(/ (?:href|src)="(docs\/[^"]+)"/g))
      expect((await weft.call("GET", `//${file}`, { token: null })).status).toBe(200);
    expect(page.text).toContain('href="openapi.json"');
    const openapi = await weft.call("GET", "//openapi.json", { token: null });
    expect([openapi.status, openapi.json]).toEqual([200, expect.objectContaining({ openapi: "3.1.0" })]);
    expect(openapi.json).toHaveProperty(["paths", "/automation/events/emit"]);
  });
});

describe("paths and methods", () => {
  test.each(READABLE)(
    "GET %s with a trailing slash returns the same response without a redirect",
    async (path) => {
      const [plain, slashed] = [await weft.call("GET", path), await weft.call("GET", `${path}/`)];
      expect([plain.status, slashed.status]).toEqual([200, 200]);
      expect(slashed.json).toEqual(plain.json);
      expect(slashed.headers.get("content-type")).toBe("application/json; charset=utf-8");
    },
  );

  test("POST /events/emit/ equals POST /events/emit", async () => {
    const answer = await weft.call("POST", "/events/emit/", { body: { topic: "custom.slash" } });
    expect(answer.status).toBe(200);
  });

  test.each([
    ["GET", "/nowhere"],
    ["GET", "//nowhere"],
    ["PUT", "/assets"],
    ["PATCH", "/runs"],
    ["DELETE", "/event-logs"],
    ["GET", "/events/emit"],
    ["POST", "/event-receiver/status"],
  ])("%s %s returns 404 with the error body", async (method, path) => {
    const answer = await weft.call(method, path);
    expect([answer.status, answer.json]).toEqual([404, error(/./)]);
  });

  test.each([
    ["GET", "/runs/no-such-run"],
    ["GET", "/runs/no-such-run/steps"],
    ["GET", "/runs/no-such-run/history"],
    ["DELETE", "/runs/no-such-run"],
    ["GET", "/workflows/no-such"],
    ["DELETE", "/workflows/no-such"],
    ["POST", "/dead-letters/no-such/redrive"],
    ["GET", "/runs/%2e%2e%2f%2e%2e%2fsecret"],
    ["GET", `/workflows/${"x".repeat(3000)}`],
    ["GET", `/runs/${"x".repeat(3000)}/steps`],
  ])("%s %s returns 404 for an unknown record", async (method, path) => {
    const answer = await weft.call(method, path);
    expect([answer.status, answer.json]).toEqual([404, error(/not found/i)]);
  });
});

describe("bodies", () => {
  test.each(["GET /workflows/%00", "GET /runs/%ff"])(
    "rejects a path that cannot contain a name, with the error body: %#",
    async (request) => {
      const [method = "", path = ""] = request.split(" ");
      const answer = await weft.call(method, path);
      expect([answer.status, answer.json]).toEqual([400, error(/./)]);
    },
  );

  test.each([
    ["malformed", "{"],
    ["empty", ""],
    ["a list", "[]"],
    ["text", '"topic"'],
    ["null", "null"],
    ["nested 200 deep", `{"topic":"a","data":${'{"a":'.repeat(200)}1${"}".repeat(200)}}`],
  ])("of POST /events/emit: %s returns 400", async (_name, body) => {
    const answer = await weft.call("POST", "/events/emit", { body });
    expect([answer.status, answer.json]).toEqual([400, error(/./)]);
  });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/problem+json",
    "application/x-www-form-urlencoded",
  ])("content type %s is parsed as JSON", async (type) => {
    const answer = await weft.call("POST", "/events/emit", {
      body: '{"topic":"custom.type"}',
      headers: { "content-type": type },
    });
    expect(answer.status).toBe(200);
  });

  test("another content type returns 400 with its name", async () => {
    const answer = await weft.call("POST", "/events/emit", {
      body: "<topic/>",
      headers: { "content-type": "application/xml" },
    });
    expect([answer.status, answer.json]).toEqual([400, error(/application\/xml/)]);
  });

  test("invalid UTF-8 returns 400", async () => {
    const answer = await weft.call("POST", "/events/emit", {
      body: new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]),
      headers: { "content-type": "application/json" },
    });
    expect([answer.status, answer.json]).toEqual([400, error(/UTF-8/)]);
  });

  test("accepts 1 MB and returns 413 for one more byte, with or without Content-Length", async () => {
    const body = (bytes: number) => {
      const frame = '{"topic":"custom.large","data":{"text":""}}';
      return `{"topic":"custom.large","data":{"text":"${"x".repeat(bytes - frame.length)}"}}`;
    };
    const MB = 1024 * 1024;
    expect((await weft.call("POST", "/events/emit", { body: body(MB) })).status).toBe(200);
    const tooLarge = await weft.call("POST", "/events/emit", { body: body(MB + 1) });
    expect([tooLarge.status, tooLarge.json]).toEqual([413, error(/at most 1048576 bytes/)]);
    const response = await fetch(`${weft.url}/automation/events/emit`, {
      method: "POST",
      headers: { authorization: `Bearer ${weft.token}` },
      body: new Blob([body(MB + 1)]).stream(),
      duplex: "half",
    } as RequestInit);
    expect([response.status, await response.json()]).toEqual([413, error(/at most/)]);
  });
});

describe("seed 2.2: lists", () => {
  const LISTS = ["/assets", "/event-logs", "/workflows", "/runs", "/dead-letters"];

  test.each(LISTS)(
    "GET %s: limit defaults to 20 and offset to 0; a limit above 10000 counts as 10000",
    async (path) => {
      const first = await weft.call("GET", path);
      expect(first.json).toMatchObject({ pagination: { offset: 0, limit: 20, total: expect.any(Number) } });
      const large = await weft.call("GET", `${path}?limit=10001&offset=3`);
      expect(large.json).toMatchObject({ pagination: { offset: 3, limit: 10_000 } });
      const huge = await weft.call("GET", `${path}?limit=99999999999999999999&offset=99999999999`);
      expect(huge.json).toMatchObject({ data: [], pagination: { limit: 10_000 } });
    },
  );

  test.each(
    LISTS.flatMap((path) =>
      [
        "limit=0",
        "limit=-1",
        "limit=a",
        "limit=1.5",
        "limit=",
        "limit=0x10",
        "limit=1e3",
        "offset=-1",
        "offset=a",
        "offset=1.0",
        "offset=",
      ].map((query) => [path, query] as const),
    ),
  )("GET %s?%s returns 400 with the parameter's name", async (path, query) => {
    const answer = await weft.call("GET", `${path}?${query}`);
    expect([answer.status, answer.json]).toEqual([400, error(new RegExp(`\\b${query.split("=")[0]}\\b`))]);
  });

  test.each(LISTS)("GET %s ignores unknown parameters", async (path) => {
    expect((await weft.call("GET", `${path}?colour=blue`)).status).toBe(200);
  });
});
