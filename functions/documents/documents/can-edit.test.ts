import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LocalConnections } from "#lib/documents/connections/live-connections.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole, setLink } from "#lib/testing/test-documents.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import { handler as saveContent } from "../content/patch.ts";
import { handler as listVersions } from "../versions/list.ts";
import { handler as restore } from "../versions/restore.ts";
import { handler as canEdit } from "./can-edit.ts";
import { handler as configureLink } from "./configure-link.ts";
import { handler as create } from "./create.ts";
import { handler as replace } from "./replace.ts";
import { handler as update } from "./update.ts";

const READ_ONLY = { COLLABORATION_WS_NOT_CONNECTED_READ_ONLY: "true" };
const DENIED = { detail: "You are not allowed to edit this document." };

let test: TestDeps;
let id: string;
let ben: string;
let server: Server | undefined;
const open = async (settings: Record<string, string> = {}): Promise<void> => {
  test = await testDeps({ settings: { ...READ_ONLY, ...settings } });
  id = (await call(test.deps, create, { body: {} })).json.id;
  const user = await createUser(test.deps, "ben");
  await grantRole(test.deps, id, user.id, "editor");
  ben = user.token;
};
beforeEach(() => open());
afterEach(async () => {
  server?.close();
  server = undefined;
  await test.close();
});

const params = () => ({ id });
const ask = async (token: string | null = TEST_TOKEN) => {
  const { status, json } = await call(test.deps, canEdit, { params: params(), token });
  return status === 200 ? json.can_edit : status;
};
const save = async (token: string | null = TEST_TOKEN, more = {}) =>
  (
    await call(test.deps, saveContent, {
      params: params(),
      token,
      body: { content: Buffer.from(`text ${Math.random()}`).toString("base64"), ...more },
    })
  ).status;
const countAs = (count: number, exists: boolean): void => {
  (test.deps.liveConnections as LocalConnections).counter = () => ({ count, exists });
};

describe("an editor without a connection", () => {
  it("may always save unless COLLABORATION_WS_NOT_CONNECTED_READ_ONLY is set", async () => {
    await test.close();
    await open({ COLLABORATION_WS_NOT_CONNECTED_READ_ONLY: "false" });
    countAs(1, false);
    expect([await save(), await save(ben), await ask(), await ask(ben)]).toEqual([204, 204, true, true]);
  });

  it("may save while nobody is connected, and the first who saves keeps others from saving", async () => {
    expect([await ask(), await ask(ben)]).toEqual([true, true]);
    expect(await save()).toBe(204);
    expect([await ask(), await ask(ben)]).toEqual([true, false]);
    expect([await save(), await save(ben)]).toEqual([204, 403]);
    const changes = { params: params(), token: ben, body: { title: "mine" } };
    for (const handler of [update, replace]) {
      const { status, json } = await call(test.deps, handler, changes);
      expect([status, json]).toEqual([403, DENIED]);
    }
  });

  it("may restore a version only while it may save", async () => {
    await save();
    test.clock.advance(10 * 60_000);
    await save();
    const { json } = await call(test.deps, listVersions, { params: params() });
    const versionId = json.versions[0].version_id;
    const back = async (token: string) =>
      (await call(test.deps, restore, { params: { id, versionId }, token })).status;
    expect([await back(ben), await back(TEST_TOKEN)]).toEqual([403, 204]);
    test.clock.advance(121_000);
    expect([await back(ben), await save(), await save(ben)]).toEqual([204, 403, 204]);
  });

  it("may save two minutes after the last save of another", async () => {
    await save();
    test.clock.advance(100_000);
    await save();
    test.clock.advance(100_000);
    expect([await ask(ben), await save(ben)]).toEqual([false, 403]);
    test.clock.advance(21_000);
    expect([await ask(ben), await save(ben), await save()]).toEqual([true, 204, 403]);
  });

  it("may not save while others are connected", async () => {
    countAs(2, false);
    expect([await ask(), await save()]).toEqual([false, 403]);
    countAs(2, true);
    expect([await ask(), await save()]).toEqual([true, 204]);
  });

  it("may save if it says that it is connected", async () => {
    await save();
    expect(await save(ben, { websocket: true })).toBe(204);
    expect(await save(ben, { websocket: false })).toBe(403);
    const body = { title: "mine", websocket: true };
    expect((await call(test.deps, update, { params: params(), token: ben, body })).status).toBe(200);
  });

  it("needs the ability", async () => {
    await setLink(test.deps, id, "public", "reader");
    expect(await ask(null)).toBe(401);
    expect(await ask((await createUser(test.deps, "eve")).token)).toBe(403);
    await setLink(test.deps, id, "public", "editor");
    expect(await ask(null)).toBe(true);
    expect((await call(test.deps, canEdit, { params: { id: crypto.randomUUID() } })).status).toBe(404);
  });
});

describe("a separate collaboration server", () => {
  const requests: string[] = [];
  let answer: { status: number; body: string };
  beforeEach(async () => {
    await test.close();
    requests.length = 0;
    answer = { status: 200, body: '{"count":1,"exists":false}' };
    server = createServer((request, response) => {
      const { authorization, "x-user-id": user = "" } = request.headers;
      requests.push(`${request.method} ${request.url} ${authorization} ${user}`.trim());
      response.writeHead(answer.status).end(answer.body);
    });
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await open({
      COLLABORATION_API_URL: `http://127.0.0.1:${port}/collaboration/api`,
      COLLABORATION_SERVER_SECRET: "a-secret",
    });
  });

  it("is asked for its connections", async () => {
    expect([await ask(), await save()]).toEqual([false, 403]);
    expect(requests[0]).toMatch(
      new RegExp(`^GET /collaboration/api/get-connections/\\?room=${id}&sessionKey=\\S+ a-secret$`),
    );
  });

  it("counts no connection if it fails", async () => {
    for (const [status, body] of [
      [404, '{"error":"Room not found"}'],
      [500, ""],
      [200, "not JSON"],
      [200, "{}"],
    ] as const) {
      answer = { status, body };
      expect(await ask()).toBe(true);
    }
    server?.close();
    expect([await ask(), await save()]).toEqual([true, 204]);
  });

  it("is told to reset connections when access changes", async () => {
    const body = { link_reach: "public", link_role: "reader" };
    expect((await call(test.deps, configureLink, { params: params(), body })).status).toBe(200);
    expect(requests).toEqual([`POST /collaboration/api/reset-connections/?room=${id} a-secret`]);
    answer = { status: 500, body: "" };
    expect((await call(test.deps, configureLink, { params: params(), body })).status).toBe(200);
  });
});
