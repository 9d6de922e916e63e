import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ApiRequest, handleApiRequest } from "./api.ts";
import { ORIGIN, TestCollaboration } from "./test-collaboration.ts";

const KEYS = ["collaboration-secret", "provider-key"];

let test: TestCollaboration;
let room: string;
beforeEach(async () => {
  test = await TestCollaboration.start();
  room = randomUUID();
  test.backend.add("ann");
  test.backend.add("bob");
  test.backend.add("reader", { update: false });
});
afterEach(() => test.close());

const ask = (request: Partial<ApiRequest> & { readonly path: string }) =>
  handleApiRequest(test.server.rooms, KEYS, {
    method: "GET",
    query: new URLSearchParams(),
    headers: { authorization: KEYS[0] },
    ...request,
  });
const query = (values: Record<string, string>): URLSearchParams => new URLSearchParams(values);
const reset = (request: Partial<ApiRequest> = {}) =>
  ask({ method: "POST", path: "/collaboration/api/reset-connections", query: query({ room }), ...request });
const count = (request: Partial<ApiRequest> = {}) =>
  ask({
    path: "/collaboration/api/get-connections",
    query: query({ room, sessionKey: "session-ann" }),
    ...request,
  });
const withSession = (user: string) => ({
  room,
  headers: { origin: ORIGIN, cookie: `docs_sessionid=session-${user}; user=${user}` },
});

describe("reset-connections", () => {
  it("requires a key", () => {
    const missing = { status: 401, body: { error: "Unauthorized: No credentials given" } };
    const wrong = { status: 401, body: { error: "Unauthorized: Invalid API Key" } };
    expect(reset({ headers: {} })).toEqual(missing);
    expect(reset({ headers: { authorization: "wrong" } })).toEqual(wrong);
    expect(reset({ headers: { authorization: "Bearer wrong" } })).toEqual(wrong);
    for (const key of KEYS)
      for (const authorization of [key, `Bearer ${key}`])
        expect(reset({ headers: { authorization } }).status).toBe(200);
  });

  it("requires a room", () => {
    expect(reset({ query: query({}) })).toEqual({ status: 400, body: { error: "Room name not provided" } });
  });

  it("closes the sockets of a room, or those of one user, whose providers connect again", async () => {
    const ann = test.connect("ann", { room });
    const bob = test.connect("bob", { room });
    await Promise.all([ann.saved(), bob.saved()]);
    expect(reset({ headers: { authorization: KEYS[0], "x-user-id": "id-ann" } })).toEqual({
      status: 200,
      body: { message: "Connections reset" },
    });
    await expect.poll(() => ann.closes).toEqual([{ code: 4205, reason: "Reset Connection" }]);
    ann.write("still attached");
    await ann.saved();
    expect(bob.closes).toEqual([]);
    reset();
    await expect.poll(() => [ann.closes.length, bob.closes.length]).toEqual([2, 1]);
    await Promise.all([ann.saved(), bob.saved()]);
    expect(bob.text()).toBe("still attached");
  });

  it("closes nobody for a change that the server reads itself", async () => {
    const ann = test.connect("ann", { room });
    await ann.saved();
    const headers = { authorization: KEYS[0], "x-weft-changes": "true" };
    expect(reset({ headers }).status).toBe(200);
    expect(ann.provider.isSynced).toBe(true);
    expect(ann.closes).toEqual([]);
  });

  it("succeeds for a room that is not open", () => {
    expect(reset({ query: query({ room: randomUUID() }) }).status).toBe(200);
  });
});

describe("get-connections", () => {
  it("requires a key", () => {
    const statusOf = (headers: ApiRequest["headers"]) => count({ headers }).status;
    expect(statusOf({})).toBe(401);
    for (const authorization of ["wrong", "Bearer wrong", "Bearer ", `${KEYS[0]}x`])
      expect(statusOf({ authorization })).toBe(401);
    for (const key of KEYS)
      for (const authorization of [key, `Bearer ${key}`]) expect(statusOf({ authorization })).toBe(404);
  });

  it("requires a room and a session key", () => {
    expect(count({ query: query({ sessionKey: "x" }) })).toEqual({
      status: 400,
      body: { error: "Room name not provided" },
    });
    expect(count({ query: query({ room }) })).toEqual({
      status: 400,
      body: { error: "Session key not provided" },
    });
  });

  it("returns 404 for a room that is not open", () => {
    expect(count()).toEqual({ status: 404, body: { error: "Room not found" } });
  });

  it("counts connections that may write, and finds the session among them", async () => {
    const ann = test.connect("ann", withSession("ann"));
    const bob = test.connect("bob", withSession("bob"));
    const reader = test.connect("reader", withSession("reader"));
    await Promise.all([ann.saved(), bob.saved(), reader.saved()]);
    expect(count()).toEqual({ status: 200, body: { count: 2, exists: true } });
    const of = (sessionKey: string) => count({ query: query({ room, sessionKey }) }).body;
    expect(of("session-reader")).toEqual({ count: 2, exists: false });
    expect(of("unknown")).toEqual({ count: 2, exists: false });
    ann.close();
    await expect.poll(() => count().body).toEqual({ count: 1, exists: false });
  });

  it("finds a session by the whole value of its cookie, among others", async () => {
    const cookie = "xdocs_sessionid=another; docs_sessionid=a=b; user=ann";
    await test.connect("ann", { room, headers: { origin: ORIGIN, cookie } }).saved();
    const exists = (sessionKey: string) => count({ query: query({ room, sessionKey }) }).body.exists;
    expect(["a=b", "a", "b", "another"].map(exists)).toEqual([true, false, false, false]);
  });
});

describe("other routes", () => {
  it.each([
    ["GET", "/collaboration/api/reset-connections"],
    ["POST", "/collaboration/api/get-connections"],
    ["GET", "/collaboration/api"],
    ["POST", "/collaboration/api/anything"],
    ["POST", "/collaboration/ws"],
  ])("%s %s is forbidden", (method, path) => {
    expect(ask({ method, path })).toEqual({ status: 403, body: { error: "Forbidden" } });
  });
});
