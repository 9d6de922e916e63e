import { describe, expect, it } from "vitest";
import {
  type Authenticator,
  authenticateRequest,
  bearerToken,
  hashToken,
  ownerAuthenticator,
} from "./auth.ts";
import { csrfToken } from "./csrf.ts";
import type { Principal, Route } from "./route.ts";
import { testService } from "./test-service.ts";

describe("the token of the owner", () => {
  it("is verified by its hash", async () => {
    const auth = ownerAuthenticator(hashToken("correct-horse-battery"));
    expect(await auth.authenticate("correct-horse-battery")).toMatchObject({ kind: "owner", id: "owner" });
    for (const wrong of [
      "",
      "correct-horse-batter",
      "correct-horse-battery ",
      "CORRECT-HORSE-BATTERY",
      "x".repeat(5000),
    ]) {
      expect(await auth.authenticate(wrong)).toBeUndefined();
    }
  });
});

describe("a bearer header", () => {
  it("contains a token after the scheme in any case; other headers contain none", () => {
    expect(bearerToken("Bearer abc")).toBe("abc");
    expect(bearerToken("bearer  abc ")).toBe("abc");
    for (const other of [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      "Basic abc",
      "Bearer a b",
      "abc",
      `Bearer ${"x".repeat(9000)}`,
    ]) {
      expect(bearerToken(other)).toBeUndefined();
    }
  });
});

const principals: Readonly<Record<string, Principal>> = {
  owner: { kind: "owner", id: "owner" },
  user: { kind: "user", id: "u1" },
  service: { kind: "service", id: "collaboration" },
  narrow: { kind: "user", id: "u2", scopes: ["other"] },
};
const auth: Authenticator = { authenticate: async (token) => principals[token], isValid: async () => true };
const sessions = { cookieName: "session", authenticate: async (id: string) => principals[id] };

type AuthRoute = Pick<Route, "auth" | "callers" | "service">;
const route: AuthRoute = { service: testService, auth: "required" };

/** The id of the principal, or the code of the error. */
const authenticate = (
  headers: Record<string, string>,
  parts: Partial<AuthRoute> & { readonly method?: string; readonly publicUrl?: string } = {},
): Promise<unknown> => {
  const { method = "GET", publicUrl, ...fields } = parts;
  return authenticateRequest(
    { ...route, ...fields },
    { method, headers },
    { auth, sessions, publicUrl },
  ).then(
    (principal) => principal?.id,
    (error: { code?: unknown }) => error.code,
  );
};

describe("callers of a route", () => {
  const token = (name: string) => ({ authorization: `Bearer ${name}` });

  it("are the owner and users unless the route declares them", async () => {
    expect(await authenticate(token("owner"))).toBe("owner");
    expect(await authenticate(token("user"))).toBe("u1");
    expect(await authenticate(token("service"))).toBe("forbidden");
    expect(await authenticate(token("service"), { callers: ["service"] })).toBe("collaboration");
    expect(await authenticate(token("user"), { callers: ["service"] })).toBe("forbidden");
    expect(await authenticate(token("user"), { callers: ["owner"] })).toBe("forbidden");
  });

  it("need a token with the scope of the service", async () => {
    expect(await authenticate(token("narrow"))).toBe("forbidden");
    expect(await authenticate(token("wrong"))).toBe("unauthorized");
    expect(await authenticate(token("wrong"), { auth: "optional" })).toBe("unauthorized");
  });
});

describe("a session cookie", () => {
  const cookie = { cookie: "theme=dark; session=user", host: "weft.example.org" };

  it("authenticates a request without an Authorization header", async () => {
    expect(await authenticate(cookie)).toBe("u1");
    expect(await authenticate({ ...cookie, authorization: "Bearer owner" })).toBe("owner");
    expect(await authenticate({ ...cookie, authorization: "Bearer wrong" })).toBe("unauthorized");
  });

  it("that is invalid counts as no credentials", async () => {
    const ended = { ...cookie, cookie: "session=ended" };
    expect(await authenticate(ended)).toBe("unauthorized");
    expect(await authenticate(ended, { auth: "optional" })).toBeUndefined();
    expect(await authenticate(cookie, { auth: "none" })).toBeUndefined();
    expect(
      await authenticateRequest({ ...route, auth: "optional" }, { method: "GET", headers: cookie }, { auth }),
    ).toBe(undefined);
  });

  const csrf = { "x-csrftoken": csrfToken("user") };
  const unsafe = ["POST", "PUT", "PATCH", "DELETE"];

  it("needs an Origin header that names the server for a method that may change something", async () => {
    const own = "http://weft.example.org";
    const sent = { ...cookie, ...csrf };
    for (const method of unsafe) {
      expect(await authenticate({ ...sent, origin: own }, { method })).toBe("u1");
      for (const origin of ["https://evil.example", "null", "", `${own}.evil.example`, `${own}/`])
        expect(await authenticate({ ...sent, origin }, { method })).toBe("forbidden");
      expect(await authenticate(sent, { method })).toBe("forbidden");
      expect(await authenticate({ ...cookie, authorization: "Bearer user" }, { method })).toBe("u1");
    }
    for (const method of ["GET", "HEAD"])
      expect(await authenticate({ ...cookie, origin: "https://evil.example" }, { method })).toBe("u1");
    const publicUrl = "https://weft.example.com/base";
    const origin = "https://weft.example.com";
    expect(await authenticate({ ...sent, origin }, { method: "POST", publicUrl })).toBe("u1");
    expect(await authenticate({ ...sent, origin: own }, { method: "POST", publicUrl })).toBe("forbidden");
  });

  it("needs the CSRF token of its session for these methods", async () => {
    const own = { ...cookie, origin: "http://weft.example.org" };
    for (const method of unsafe) {
      expect(await authenticate({ ...own, ...csrf }, { method })).toBe("u1");
      for (const token of ["", "x", csrfToken("owner"), csrf["x-csrftoken"].toUpperCase(), "é".repeat(43)])
        expect(await authenticate({ ...own, "x-csrftoken": token }, { method })).toBe("forbidden");
      expect(await authenticate(own, { method })).toBe("forbidden");
      // A cookie of another site's making does not help.
      const forged = `${own.cookie}; csrftoken=chosen`;
      expect(await authenticate({ ...own, cookie: forged, "x-csrftoken": "chosen" }, { method })).toBe(
        "forbidden",
      );
    }
  });

  it("that is invalid needs neither: the request is anonymous", async () => {
    const ended = { ...cookie, cookie: "session=ended" };
    expect(await authenticate(ended, { method: "POST", auth: "optional" })).toBeUndefined();
    expect(await authenticate(ended, { method: "POST" })).toBe("unauthorized");
  });
});
