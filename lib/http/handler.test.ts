import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { ApiError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import { hashToken, ownerAuthenticator } from "./auth.ts";
import { type Handler, type LambdaRuntime, type ResponseStream, toHandler } from "./handler.ts";
import { booleanQuery, pageQuery, textQuery } from "./page.ts";
import { joinBody, type ProxyEvent } from "./request.ts";
import { defineRoute, type Route } from "./route.ts";
import { testService } from "./test-service.ts";

// Without the Lambda runtime, handlers return whole responses.
beforeAll(() => void vi.stubGlobal("awslambda", undefined));
afterAll(() => vi.unstubAllGlobals());

const TOKEN = "a-token-of-some-length";
let logged: { message: string; fields: unknown }[];
let information: string[];
const log: Log = {
  debug: () => undefined,
  info: (message) => information.push(message),
  warn: () => undefined,
  error: (message, fields) => logged.push({ message, fields }),
  with: () => log,
};
const deps = { auth: ownerAuthenticator(hashToken(TOKEN)), log, throttle: { pass: () => undefined } };

beforeEach(() => {
  logged = [];
  information = [];
});

function event(parts: Partial<ProxyEvent> & { token?: string | undefined } = {}): ProxyEvent {
  const { token = TOKEN, headers, ...rest } = parts;
  return {
    httpMethod: "POST",
    path: "/automation/things",
    headers: { Authorization: `Bearer ${token}`, ...headers },
    pathParameters: null,
    queryStringParameters: null,
    body: null,
    isBase64Encoded: false,
    ...rest,
  };
}

async function call<P, Q, B, R>(route: Route<P, Q, B, R, typeof deps>, sent: ProxyEvent) {
  const { statusCode, body, headers } = await toHandler(route, async () => deps)(sent);
  return { statusCode, headers, body: body === "" ? undefined : (JSON.parse(body) as unknown) };
}

const create = defineRoute({
  service: testService,
  operationId: "createThing",
  method: "POST",
  path: "/things",
  summary: "",
  tag: "",
  auth: "required",
  query: z.object({ dry: booleanQuery, name: textQuery, ...pageQuery }),
  body: z.object({ name: z.string("must be text"), size: z.int().max(5).optional() }),
  bodyLimitBytes: 10_000,
  status: 201,
  response: z.looseObject({}),
  run: ({ body, query }, _deps: typeof deps) => ({ body, query }),
});

const failing = (thrown: unknown) =>
  defineRoute({
    service: testService,
    operationId: "fail",
    method: "GET",
    path: "/fail",
    summary: "",
    tag: "",
    auth: "required",
    status: 200,
    response: z.never(),
    run: (_input, _deps: typeof deps): never => {
      throw thrown;
    },
  });

describe("a route's handler", () => {
  it("returns 401 in the error format of the service without a token, with an invalid one and with another scheme", async () => {
    const sent = ["", "Basic x", "Bearer", "Bearer a b", `Bearer ${TOKEN}x`, `Token ${TOKEN}`];
    for (const Authorization of sent) {
      const response = await call(create, event({ headers: { Authorization }, body: "{" }));
      expect(response).toMatchObject({ statusCode: 401, body: { error: true, message: expect.any(String) } });
    }
    const none = await toHandler(create, async () => deps)({ ...event(), headers: {} });
    expect(none.statusCode).toBe(401);
    expect(
      (await call(create, event({ headers: { Authorization: `bEARER ${TOKEN}` }, body: '{"name":"x"}' })))
        .statusCode,
    ).toBe(201);
  });

  it("accepts JSON content types and the one that curl sends, and refuses others", async () => {
    for (const type of [
      undefined,
      "application/json",
      "application/json; charset=utf-8",
      "application/x-www-form-urlencoded",
      "application/merge-patch+json",
    ]) {
      const headers = type === undefined ? {} : { "Content-Type": type };
      expect((await call(create, event({ headers, body: '{"name":"x"}' }))).statusCode).toBe(201);
    }
    const refused = await call(
      create,
      event({ headers: { "content-type": "text/plain" }, body: '{"name":"x"}' }),
    );
    expect(refused).toMatchObject({
      statusCode: 400,
      body: { message: expect.stringContaining("content-type") },
    });
  });

  it.each([
    ["empty", "", /empty/],
    ["cut off", '{"name":', /must be valid JSON/],
    ["no object", "[]", /object/],
    ["a wrong type", '{"name":1}', /^name: must be text$/],
    ["a wrong inner value", '{"name":"x","size":9}', /^size: /],
    ["nested too deep", `{"name":${"[".repeat(5000)}`, /nested/],
  ])("returns 400 and names the issue: %s", async (_case, body, message) => {
    const response = await call(create, event({ body }));
    expect(response).toMatchObject({
      statusCode: 400,
      body: { error: true, message: expect.stringMatching(message) },
    });
  });

  it("returns 413 above the body limit in bytes, also for base64, and 400 for bytes that are not UTF-8", async () => {
    const long = JSON.stringify({ name: "é".repeat(5_000) });
    expect((await call(create, event({ body: long }))).statusCode).toBe(413);
    const base64 = Buffer.from(long).toString("base64");
    expect((await call(create, event({ body: base64, isBase64Encoded: true }))).statusCode).toBe(413);
    const binary = Buffer.from([0xff, 0xfe]).toString("base64");
    expect((await call(create, event({ body: binary, isBase64Encoded: true }))).statusCode).toBe(400);
  });

  it.each([
    ["limit", "0"],
    ["limit", "-1"],
    ["limit", "1.5"],
    ["limit", "abc"],
    ["limit", ""],
    ["limit", "1e3"],
    ["limit", "0x10"],
    ["offset", "-1"],
    ["offset", " 1"],
    ["offset", "NaN"],
    ["dry", "TRUE"],
    ["dry", "1"],
  ])("returns 400 and names the parameter: %s=%s", async (name, value) => {
    const response = await call(
      create,
      event({ body: '{"name":"x"}', queryStringParameters: { [name]: value } }),
    );
    expect(response).toMatchObject({ statusCode: 400, body: { message: expect.stringContaining(name) } });
  });

  it("clamps a limit above 10000, ignores an empty filter, and reports all issues at once", async () => {
    const response = await call(
      create,
      event({
        body: '{"name":"x"}',
        queryStringParameters: {
          limit: "99999999999999999999",
          offset: "7",
          name: "",
          dry: "false",
          other: "x",
        },
      }),
    );
    expect(response.body).toMatchObject({ query: { limit: 10_000, offset: 7, dry: false } });
    expect(response.body).not.toHaveProperty("query.name");
    const invalid = await call(
      create,
      event({ body: "{}", queryStringParameters: { limit: "x", offset: "y" } }),
    );
    expect(invalid.body).toMatchObject({ message: expect.stringMatching(/offset.*limit.*name/) });
  });

  it("logs internal errors and does not show them to the caller", async () => {
    const response = await call(failing(new TypeError("/secret/path: x is undefined")), event());
    expect(response).toMatchObject({
      statusCode: 500,
      body: { error: true, message: "Internal server error" },
    });
    expect(JSON.stringify(response)).not.toContain("secret");
    expect(logged).toHaveLength(1);
    const known = await call(failing(new ApiError("conflict", "taken")), event());
    expect(known).toMatchObject({ statusCode: 409, body: { message: "taken" } });
    const full = await call(failing(Object.assign(new Error("disk"), { code: "storage_full" })), event());
    expect(full).toMatchObject({ statusCode: 507, body: { message: expect.stringContaining("full") } });
  });

  it("logs responses that a start explains as information", async () => {
    const starting = new ApiError("unavailable", "being loaded", { isExpected: true });
    const response = await call(failing(starting), event());
    expect(response).toMatchObject({ statusCode: 503, body: { message: "being loaded" } });
    expect([logged, information]).toEqual([[], ["request failed"]]);
  });

  it("uses a valid request id of the caller, and its own in place of an invalid one", async () => {
    const sane = await call(create, event({ headers: { "x-request-id": "abc-1" }, body: '{"name":"x"}' }));
    expect(sane.headers["x-request-id"]).toBe("abc-1");
    const odd = await call(create, {
      ...event({ headers: { "x-request-id": "a\r\nb: c" }, body: "{}" }),
      requestContext: { requestId: "mine" },
    });
    expect(odd.headers["x-request-id"]).toBe("mine");
  });
});

it.each(["gzip", "br", "gzip, identity", "x".repeat(500)])(
  "a body with Content-Encoding %s gets 415, one with identity is read",
  async (encoding) => {
    const bytes = { body: Buffer.from([0x1f, 0x8b, 8, 0]).toString("base64"), isBase64Encoded: true };
    const response = await call(create, event({ headers: { "Content-Encoding": encoding }, ...bytes }));
    const message = `content-encoding: ${encoding.slice(0, 100)} is not supported, send the body uncompressed`;
    expect([response.statusCode, response.body]).toEqual([415, { error: true, message }]);
    const plain = event({ headers: { "content-encoding": "Identity" }, body: '{"name":"x"}' });
    expect((await call(create, plain)).statusCode).toBe(201);
  },
);

describe("a body that the gateway passes in a file or in chunks", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "weft-body-"));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const inFile = async (text: string): Promise<Partial<ProxyEvent>> => {
    const path = join(folder, "body");
    await writeFile(path, text);
    return { bodyFile: { path, bytes: Buffer.byteLength(text) } };
  };
  const inChunks = (...texts: readonly string[]): Partial<ProxyEvent> => ({
    bodyParts: texts.map((text) => Buffer.from(text)),
  });

  it("is read by a route without large bodies, once it is joined", async () => {
    for (const sent of [await inFile('{"name":"é"}'), inChunks('{"na', 'me":"é"}'), inChunks()]) {
      const given = event(sent);
      await joinBody(given, 10_000);
      const { statusCode, body } = await call(create, given);
      if (sent.bodyParts?.length === 0) expect(statusCode).toBe(400);
      else expect(body).toMatchObject({ body: { name: "é" } });
    }
  });

  it("is refused if it is too long to join", async () => {
    const long = JSON.stringify({ name: "x".repeat(10_000) });
    for (const sent of [await inFile(long), inChunks(long)]) {
      const given = event(sent);
      await joinBody(given, 10_000);
      expect((await call(create, given)).statusCode).toBe(413);
    }
  });
});

describe("a list's handler", () => {
  const list = (pages: readonly unknown[][], total: number) =>
    defineRoute({
      service: testService,
      operationId: "listThings",
      method: "GET",
      path: "/things",
      summary: "",
      tag: "",
      auth: "none",
      query: z.object(pageQuery),
      status: 200,
      response: z.unknown(),
      list: true,
      run: async ({ query }, _deps: typeof deps) => ({
        listing: {
          total,
          items: (async function* () {
            yield* pages;
          })(),
        },
        pagination: query,
      }),
    });

  it("returns data and pagination, with the defaults", async () => {
    expect((await call(list([[{ a: 1 }], [], [{ a: 2 }, { a: 3 }]], 9), event())).body).toEqual({
      data: [{ a: 1 }, { a: 2 }, { a: 3 }],
      pagination: { total: 9, offset: 0, limit: 20 },
    });
    expect((await call(list([], 0), event())).body).toEqual({
      data: [],
      pagination: { total: 0, offset: 0, limit: 20 },
    });
  });

  it("leaves no listener on a stream that was full", async () => {
    const stream = new PassThrough({ highWaterMark: 1 });
    let listeners = 0;
    stream.on("data", () => {
      listeners = Math.max(listeners, stream.listenerCount("close"), stream.listenerCount("drain"));
    });
    const runtime: LambdaRuntime = {
      streamifyResponse: (handler) => handler as unknown as Handler,
      HttpResponseStream: { from: () => stream },
    };
    vi.stubGlobal("awslambda", runtime);
    const pages = Array.from({ length: 50 }, (_, page) => [{ page, text: "x".repeat(100_000) }]);
    const handler = toHandler(list(pages, 50), async () => deps) as unknown as (
      event: ProxyEvent,
      stream: ResponseStream,
    ) => Promise<void>;
    await handler(event(), stream);
    vi.stubGlobal("awslambda", undefined);
    expect(stream.listenerCount("close")).toBe(0);
    expect(stream.listenerCount("drain")).toBe(0);
    expect(listeners).toBeLessThanOrEqual(3);
  });
});
