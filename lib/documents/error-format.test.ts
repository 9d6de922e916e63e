import { describe, expect, it } from "vitest";
import * as z from "zod";
import { hashToken, ownerAuthenticator } from "../http/auth.ts";
import { toHandler } from "../http/handler.ts";
import type { ProxyEvent } from "../http/request.ts";
import { defineRoute } from "../http/route.ts";
import type { Log } from "../platform/log.ts";
import { documentsService } from "./service.ts";

const TOKEN = "a-token-of-some-length";
const log: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
const deps = {
  auth: ownerAuthenticator(hashToken(TOKEN)),
  log,
  throttle: { pass: () => undefined },
};

const change = defineRoute({
  service: documentsService,
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

const sent = (body: unknown, more: Partial<ProxyEvent> = {}): ProxyEvent => ({
  httpMethod: "PATCH",
  path: `/api/v1.0/things/${id}/`,
  pathParameters: { id },
  queryStringParameters: null,
  body: typeof body === "string" ? body : JSON.stringify(body),
  isBase64Encoded: false,
  ...more,
  headers: { authorization: `Bearer ${TOKEN}`, ...more.headers },
});

const call = async (sent: ProxyEvent) => {
  const { statusCode, body } = await toHandler(change, async () => deps)(sent);
  return { statusCode, body: JSON.parse(body) as unknown };
};

describe("the error format of documents", () => {
  it("lists the messages of each field", async () => {
    const found = await call(sent({ title: "abcdef", size: 6, on: "x", target: "y" }));
    expect([found.statusCode, found.body]).toEqual([
      400,
      {
        title: ["Ensure this field has no more than 5 characters."],
        size: ["Ensure this value is less than or equal to 5."],
        on: ["Must be a valid boolean."],
        target: ["Must be a valid UUID."],
      },
    ]);
    expect((await call(sent("", {}))).body).toEqual({ target: ["This field is required."] });
    expect((await call(sent({ title: "", target: null }))).body).toEqual({
      title: ["This field may not be blank."],
      target: ["This field may not be null."],
    });
    expect((await call(sent([1]))).body).toEqual({
      non_field_errors: ["Invalid data. Expected a dictionary, but got list."],
    });
    const query = await call(sent({ target: id }, { queryStringParameters: { kind: "c" } }));
    expect(query.body).toEqual({ kind: ['"c" is not a valid choice.'] });
  });

  it("returns 404 for a malformed id and 415 for content types other than JSON", async () => {
    const strange = await call(sent({ target: id }, { pathParameters: { id: "x" } }));
    expect([strange.statusCode, strange.body]).toEqual([404, { detail: "Not found." }]);
    const typed = await call(sent({ target: id }, { headers: { "content-type": "text/plain" } }));
    expect([typed.statusCode, typed.body]).toEqual([
      415,
      { detail: 'Unsupported media type "text/plain" in request.' },
    ]);
  });

  it("accepts anonymous requests to an optional route, but no invalid token and none without the service's scope", async () => {
    const status = async (headers: Record<string, string>, auth = deps.auth) => {
      const { statusCode, body } = await toHandler(change, async () => ({ ...deps, auth }))({
        ...sent({ target: id }),
        headers,
      });
      return [statusCode, (JSON.parse(body) as { who?: unknown }).who];
    };
    expect(await status({})).toEqual([200, null]);
    expect(await status({ authorization: `Bearer ${TOKEN}` })).toEqual([200, "owner"]);
    expect(await status({ authorization: "Bearer x" })).toEqual([401, undefined]);
    const narrow = {
      authenticate: async () => ({ kind: "user", id: "u", scopes: ["automation"] }) as const,
      isValid: async () => true,
    };
    expect(await status({ authorization: "Bearer x" }, narrow)).toEqual([403, undefined]);
  });
});
