import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { Log } from "../platform/log.ts";
import { hashToken, ownerAuthenticator } from "./auth.ts";
import { parseCookies, serializeCookie } from "./cookies.ts";
import { toHandler } from "./handler.ts";
import { HttpResponse, redirect } from "./response.ts";
import { defineRoute } from "./route.ts";
import { testService } from "./test-service.ts";

const log: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
const deps = { auth: ownerAuthenticator(hashToken("token")), log, throttle: { pass() {} } };

const respond = (make: () => HttpResponse) =>
  toHandler(
    defineRoute({
      service: testService,
      operationId: "respond",
      method: "GET",
      path: "/respond",
      summary: "",
      tag: "",
      auth: "none",
      status: 200,
      response: z.never(),
      run: (_input, _deps: typeof deps) => make(),
    }),
    async () => deps,
  )({
    httpMethod: "GET",
    path: "/test/respond",
    headers: {},
    pathParameters: null,
    queryStringParameters: null,
    body: null,
    isBase64Encoded: false,
  });

describe("a response of a route", () => {
  it.each([
    [203, '{"a":1}'],
    [204, ""],
    [205, ""],
    [304, ""],
    [418, '{"a":1}'],
    [599, '{"a":1}'],
  ] as const)("has any status: %i", async (status, body) => {
    const result = await respond(() => new HttpResponse({ a: 1 }, { status }));
    expect([result.statusCode, result.body]).toEqual([status, body]);
  });

  it("has a Set-Cookie header for each cookie", async () => {
    const cookies = [
      serializeCookie("session", "abc"),
      serializeCookie("theme", "dark", { isHttpOnly: false }),
    ];
    const { multiValueHeaders, headers } = await respond(() => new HttpResponse("", { cookies }));
    expect(multiValueHeaders).toEqual({
      "set-cookie": [
        "session=abc; Path=/; SameSite=Lax; Secure; HttpOnly",
        "theme=dark; Path=/; SameSite=Lax; Secure",
      ],
    });
    expect(headers["set-cookie"]).toBeUndefined();
  });
});

describe("a redirect", () => {
  it.each([302, 303, 307, 308] as const)("has status %i and a Location", async (status) => {
    const result = await respond(() => redirect(status, "/docs?page=1#é", { cookies: ["a=1"] }));
    expect(result).toMatchObject({
      statusCode: status,
      headers: { location: "/docs?page=1#%C3%A9" },
      multiValueHeaders: { "set-cookie": ["a=1"] },
      body: "",
    });
  });

  it("leads to another origin only if given as a URL", async () => {
    const url = new URL("https://login.example.org/authorize?state=1");
    expect((await respond(() => redirect(302, url))).headers["location"]).toBe(url.href);
    for (const location of [
      "//example.org",
      "/\\example.org",
      "/\t/example.org",
      "https://example.org",
      "docs",
      "",
      "javascript:alert(1)",
      `/${"x".repeat(9000)}`,
    ])
      expect(() => redirect(302, location)).toThrow(RangeError);
    expect(() => redirect(302, new URL("javascript:alert(1)"))).toThrow(RangeError);
    expect(redirect(302, "/a\r\nset-cookie: b=1").headers["location"]).toBe("/aset-cookie:%20b=1");
  });
});

describe("cookies", () => {
  it("are read from their header, the first of several with a name", () => {
    const cookies = parseCookies('a=1; b="2"; a=3; =x; c; d=%20; e=a=b; __Host-s=4');
    expect([...cookies]).toEqual([
      ["a", "1"],
      ["b", "2"],
      ["d", "%20"],
      ["e", "a=b"],
      ["__Host-s", "4"],
    ]);
    expect(parseCookies(undefined).size).toBe(0);
    expect(parseCookies(`a=${"x".repeat(9000)}`).size).toBe(0);
    expect(parseCookies(Array.from({ length: 150 }, (_, index) => `c${index}=1`).join(";")).size).toBe(100);
  });

  it("have attributes", () => {
    expect(
      serializeCookie("a", "", { maxAgeSeconds: 0, path: "/x", sameSite: "Strict", isSecure: false }),
    ).toBe("a=; Path=/x; Max-Age=0; SameSite=Strict; HttpOnly");
  });

  it.each([
    ["", "x", {}],
    ["a b", "x", {}],
    ["a", "x; Domain=example.org", {}],
    ["a", "x\r\ny: z", {}],
    ["a", "x", { path: "/;Domain=example.org" }],
    ["a", "x", { path: "x" }],
    ["a", "x", { maxAgeSeconds: 1.5 }],
    ["a", "x".repeat(5000), {}],
  ])("are refused if they are malformed: %j=%.40j %j", (name, value, options) => {
    expect(() => serializeCookie(name, value, options)).toThrow(RangeError);
  });
});
