import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { ApiError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import { hashToken, ownerAuthenticator } from "./auth.ts";
import { toHandler } from "./handler.ts";
import { booleanQuery, pageQuery, textQuery } from "./page.ts";
import type { ProxyEvent } from "./request.ts";
import { defineRoute, type Route } from "./route.ts";

const TOKEN = "a-token-of-some-length";
let logged: { message: string; fields: unknown }[];
const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (message, fields) => logged.push({ message, fields }),
  with: () => log,
};
const deps = { auth: ownerAuthenticator(hashToken(TOKEN)), log, throttle: { pass: () => undefined } };

beforeEach(() => {
  logged = [];
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
  service: "automation",
  operationId: "createThing",
  method: "POST",
  path: "/things",
  summary: "",
  tag: "",
  auth: "token",
  query: z.object({ dry: booleanQuery, name: textQuery, ...pageQuery }),
  body: z.object({ name: z.string("must be text"), size: z.int().max(5).optional() }),
  bodyLimitBytes: 10_000,
  status: 201,
  response: z.looseObject({}),
  run: ({ body, query }, _deps: typeof deps) => ({ body, query }),
});

const failing = (thrown: unknown) =>
  defineRoute({
    service: "automation",
    operationId: "fail",
    method: "GET",
    path: "/fail",
    summary: "",
    tag: "",
    auth: "token",
    status: 200,
    response: z.never(),
    run: (_input, _deps: typeof deps): never => {
      throw thrown;
    },
  });

describe("a route's handler", () => {
  it("answers 401 in the service's error body without a token, with a wrong one and with another scheme", async () => {
    const sent = ["", "Basic x", "Bearer", "Bearer a b", `Bearer ${TOKEN}x`, `Token ${TOKEN}`];
    for (const Authorization of sent) {
      const answer = await call(create, event({ headers: { Authorization }, body: "{" }));
      expect(answer).toMatchObject({ statusCode: 401, body: { error: true, message: expect.any(String) } });
    }
    const none = await toHandler(create, async () => deps)({ ...event(), headers: {} });
    expect(none.statusCode).toBe(401);
    expect(
      (await call(create, event({ headers: { Authorization: `bEARER ${TOKEN}` }, body: '{"name":"x"}' })))
        .statusCode,
    ).toBe(201);
  });

  it("reads JSON whatever the content type curl sends, and refuses another one", async () => {
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
    ["cut off", '{"name":', /does not parse/],
    ["no object", "[]", /object/],
    ["a wrong type", '{"name":1}', /^name: must be text$/],
    ["a wrong inner value", '{"name":"x","size":9}', /^size: /],
    ["nested too deep", `{"name":${"[".repeat(5000)}`, /nested/],
  ])("answers 400 and names what is wrong: %s", async (_case, body, message) => {
    const answer = await call(create, event({ body }));
    expect(answer).toMatchObject({
      statusCode: 400,
      body: { error: true, message: expect.stringMatching(message) },
    });
  });

  it("answers 413 above the body's limit in bytes, also for base64, and 400 for bytes that are no text", async () => {
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
  ])("answers 400 naming the parameter: %s=%s", async (name, value) => {
    const answer = await call(
      create,
      event({ body: '{"name":"x"}', queryStringParameters: { [name]: value } }),
    );
    expect(answer).toMatchObject({ statusCode: 400, body: { message: expect.stringContaining(name) } });
  });

  it("clamps a limit above 10000, takes an empty filter as none, and names every fault at once", async () => {
    const answer = await call(
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
    expect(answer.body).toMatchObject({ query: { limit: 10_000, offset: 7, dry: false } });
    expect(answer.body).not.toHaveProperty("query.name");
    const faults = await call(
      create,
      event({ body: "{}", queryStringParameters: { limit: "x", offset: "y" } }),
    );
    expect(faults.body).toMatchObject({ message: expect.stringMatching(/offset.*limit.*name/) });
  });

  it("keeps what went wrong inside to the log", async () => {
    const answer = await call(failing(new TypeError("/secret/path: x is undefined")), event());
    expect(answer).toMatchObject({
      statusCode: 500,
      body: { error: true, message: "Internal server error" },
    });
    expect(JSON.stringify(answer)).not.toContain("secret");
    expect(logged).toHaveLength(1);
    const known = await call(failing(new ApiError("conflict", "taken")), event());
    expect(known).toMatchObject({ statusCode: 409, body: { message: "taken" } });
    const full = await call(failing(Object.assign(new Error("disk"), { code: "storage_full" })), event());
    expect(full).toMatchObject({ statusCode: 507, body: { message: expect.stringContaining("full") } });
  });

  it("hands a sane request id through, and its own instead of another", async () => {
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
  "a body with Content-Encoding %s is refused with 415, one with identity is read",
  async (encoding) => {
    const bytes = { body: Buffer.from([0x1f, 0x8b, 8, 0]).toString("base64"), isBase64Encoded: true };
    const answer = await call(create, event({ headers: { "Content-Encoding": encoding }, ...bytes }));
    const message = `content-encoding: ${encoding.slice(0, 100)} is not supported, send the body uncompressed`;
    expect([answer.statusCode, answer.body]).toEqual([415, { error: true, message }]);
    const plain = event({ headers: { "content-encoding": "Identity" }, body: '{"name":"x"}' });
    expect((await call(create, plain)).statusCode).toBe(201);
  },
);

describe("a handler of the documents", () => {
  const change = defineRoute({
    service: "documents",
    operationId: "changeThing",
    method: "PATCH",
    path: "/things/{id}/",
    summary: "",
    tag: "",
    auth: "optional",
    params: z.object({ id: z.uuid() }),
    query: z.object({ kind: z.enum(["a", "b"]).optional() }),
    body: z.object({
      title: z.string().min(1).max(5).nullish(),
      size: z.int().max(5).optional(),
      on: z.boolean().optional(),
      target: z.uuid(),
    }),
    status: 200,
    response: z.looseObject({}),
    run: ({ body, request }, _deps: typeof deps) => ({ body, who: request.principal?.id ?? null }),
  });
  const id = "6f0a2a0e-0e0e-4a3a-9d5f-0d8f6f5f2b11";
  const sent = (body: unknown, more: Partial<ProxyEvent> = {}): ProxyEvent =>
    event({ pathParameters: { id }, body: typeof body === "string" ? body : JSON.stringify(body), ...more });

  it("names each field and what is wrong with it", async () => {
    const found = await call(change, sent({ title: "abcdef", size: 6, on: "x", target: "y" }));
    expect([found.statusCode, found.body]).toEqual([
      400,
      {
        title: ["Ensure this field has no more than 5 characters."],
        size: ["Ensure this value is less than or equal to 5."],
        on: ["Must be a valid boolean."],
        target: ["Must be a valid UUID."],
      },
    ]);
    expect((await call(change, sent("", {}))).body).toEqual({ target: ["This field is required."] });
    expect((await call(change, sent({ title: "", target: null }))).body).toEqual({
      title: ["This field may not be blank."],
      target: ["This field may not be null."],
    });
    expect((await call(change, sent([1]))).body).toEqual({
      non_field_errors: ["Invalid data. Expected a dictionary, but got list."],
    });
    const query = await call(change, sent({ target: id }, { queryStringParameters: { kind: "c" } }));
    expect(query.body).toEqual({ kind: ['"c" is not a valid choice.'] });
  });

  it("knows nothing of what has no such id, and takes JSON alone", async () => {
    const strange = await call(change, sent({ target: id }, { pathParameters: { id: "x" } }));
    expect([strange.statusCode, strange.body]).toEqual([404, { detail: "Not found." }]);
    const typed = await call(change, sent({ target: id }, { headers: { "content-type": "text/plain" } }));
    expect([typed.statusCode, typed.body]).toEqual([
      415,
      { detail: 'Unsupported media type "text/plain" in request.' },
    ]);
  });

  it("takes anybody where a token is not asked for, and nobody with a wrong one or one of another service", async () => {
    const open = async (headers: Record<string, string>, auth = deps.auth) => {
      const { statusCode, body } = await toHandler(change, async () => ({ ...deps, auth }))({
        ...sent({ target: id }),
        headers,
      });
      return [statusCode, (JSON.parse(body) as { who?: unknown }).who];
    };
    expect(await open({})).toEqual([200, null]);
    expect(await open({ authorization: `Bearer ${TOKEN}` })).toEqual([200, "owner"]);
    expect(await open({ authorization: "Bearer x" })).toEqual([401, undefined]);
    const narrow = {
      authenticate: async () => ({ kind: "user", id: "u", scopes: ["automation"] }) as const,
      isValid: async () => true,
    };
    expect(await open({ authorization: "Bearer x" }, narrow)).toEqual([403, undefined]);
  });
});

describe("a list's handler", () => {
  const list = (pages: readonly unknown[][], total: number) =>
    defineRoute({
      service: "automation",
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

  it("answers data and pagination, the defaults filled in", async () => {
    expect((await call(list([[{ a: 1 }], [], [{ a: 2 }, { a: 3 }]], 9), event())).body).toEqual({
      data: [{ a: 1 }, { a: 2 }, { a: 3 }],
      pagination: { total: 9, offset: 0, limit: 20 },
    });
    expect((await call(list([], 0), event())).body).toEqual({
      data: [],
      pagination: { total: 0, offset: 0, limit: 20 },
    });
  });
});
