import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToken } from "#lib/documents/users/tokens.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as share } from "../accesses/create.ts";
import { route as make } from "../documents/create.ts";
import { route as makeChild } from "../documents/create-child.ts";
import { route as drop } from "../documents/delete.ts";
import { route as read } from "../documents/get.ts";
import { route as accept } from "./accept.ts";
import { route as ask } from "./create.ts";
import { route as remove } from "./delete.ts";
import { route as get } from "./get.ts";
import { route as list } from "./list.ts";

const NOWHERE = "11111111-1111-4111-8111-111111111111";

interface Person {
  readonly id: string;
  readonly token: string;
}

let test: TestDeps;
let root: string;
let anna: Person;
beforeEach(async () => {
  test = await testDeps();
  root = (await call(test.deps, make, { body: { title: "Plans" }, token: TEST_TOKEN })).body.id;
  anna = await person("anna");
});
afterEach(() => test.close());

type Who = Person | null;
const tokenOf = (who: Who | undefined) => (who === undefined ? TEST_TOKEN : (who?.token ?? null));
const person = async (name: string, role?: string): Promise<Person> => {
  const { token, record } = await createToken(test.deps, { email: `${name}@example.com`, name });
  if (role !== undefined)
    await call(test.deps, share, {
      params: { id: root },
      body: { user_id: record.user, role },
      token: TEST_TOKEN,
    });
  return { id: record.user, token };
};
const request = (who: Who | undefined, body: object = {}, id = root) =>
  call(test.deps, ask, { params: { id }, body, token: tokenOf(who) });
const requests = (who?: Who, query: Record<string, string> = {}, id = root) =>
  call(test.deps, list, { params: { id }, query, token: tokenOf(who), headers: { host: "docs.example" } });
const one = (requestId: string, who?: Who) =>
  call(test.deps, get, { params: { id: root, requestId }, token: tokenOf(who) });
const turnDown = (requestId: string, who?: Who) =>
  call(test.deps, remove, { params: { id: root, requestId }, token: tokenOf(who) });
const agree = (requestId: string, body: object = {}, who?: Who) =>
  call(test.deps, accept, { params: { id: root, requestId }, body, token: tokenOf(who) });
const roleOf = async (who: Who) =>
  (await call(test.deps, read, { params: { id: root }, token: tokenOf(who) })).body.user_role;
const firstId = async () => (await requests()).body.results[0].id as string;

describe("asking for access", () => {
  it("returns an empty response, and is visible to managers and to the caller", async () => {
    const ben = await person("ben");
    expect(await request(anna)).toEqual({ status: 201, body: undefined });
    test.clock.advance(1_000);
    expect((await request(ben, { role: "editor" })).status).toBe(201);
    const { body } = await requests();
    expect(
      body.results.map(({ user, role }: { user: { email: string }; role: string }) => [user.email, role]),
    ).toEqual([
      ["anna@example.com", "reader"],
      ["ben@example.com", "editor"],
    ]);
    expect(body.results[0]).toMatchObject({
      document: root,
      abilities: {
        destroy: true,
        update: true,
        partial_update: true,
        retrieve: true,
        accept: true,
        set_role_to: ["reader", "commenter", "editor", "administrator", "owner"],
      },
    });
    const { body: own } = await requests(ben);
    expect(own).toMatchObject({
      count: 1,
      results: [{ user: { id: ben.id }, abilities: { accept: false } }],
    });
    expect((await requests(await person("carl"))).body.count).toBe(0);
    expect((await requests(undefined, { page_size: "1", page: "2" })).body.results).toHaveLength(1);
  });

  it("is possible once, for users without full access", async () => {
    const [admin, editor] = [await person("admin", "administrator"), await person("editor", "editor")];
    await request(anna);
    expect(await request(anna, { role: "editor" })).toEqual({
      status: 400,
      body: { detail: "You already ask to access to this document." },
    });
    for (const who of [undefined, admin])
      expect(await request(who)).toEqual({
        status: 400,
        body: { detail: "You already have privileged access to this document." },
      });
    expect((await request(editor, { role: "administrator" })).status).toBe(201);
    expect(await request(anna, { role: "owner" })).toEqual({
      status: 400,
      body: { role: ['"owner" is not a valid choice.'] },
    });
    expect((await request(null)).status).toBe(401);
    const ben = await person("ben");
    const both = await Promise.all([request(ben), request(ben)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 400]);
  });

  it("requires an existing root", async () => {
    const { body } = await call(test.deps, makeChild, {
      params: { id: root },
      body: {},
      token: TEST_TOKEN,
    });
    const missing = { status: 404, body: { detail: "Document not found." } };
    expect(await request(anna, {}, body.id)).toEqual(missing);
    expect(await requests(undefined, {}, body.id)).toEqual(missing);
    expect((await request(anna, {}, NOWHERE)).status).toBe(404);
    await call(test.deps, drop, { params: { id: root }, token: TEST_TOKEN });
    expect((await request(anna)).status).toBe(404);
  });
});

describe("accepting a request", () => {
  it("grants the requested role or another one, and deletes the request", async () => {
    const ben = await person("ben", "reader");
    await request(anna, { role: "commenter" });
    expect(await agree(await firstId())).toEqual({ status: 204, body: undefined });
    expect(await roleOf(anna)).toBe("commenter");
    expect((await requests()).body.count).toBe(0);
    await request(ben, { role: "administrator" });
    expect((await agree(await firstId(), { role: "editor" })).status).toBe(204);
    expect(await roleOf(ben)).toBe("editor");
    expect((await request(anna, { role: "editor" })).status).toBe(201);
  });

  it("requires an administrator or owner, who cannot grant more than their own role", async () => {
    const [admin, editor] = [await person("admin", "administrator"), await person("editor", "editor")];
    await request(anna);
    const id = await firstId();
    for (const who of [anna, editor]) {
      expect((await one(id, who)).status).toBe(403);
      expect((await turnDown(id, who)).status).toBe(403);
      expect((await agree(id, {}, who)).status).toBe(403);
    }
    expect((await agree(id, {}, null)).status).toBe(401);
    expect(await agree(id, { role: "owner" }, admin)).toEqual({
      status: 400,
      body: { detail: "You cannot accept a role higher than your own." },
    });
    expect((await one(id, admin)).body.abilities.set_role_to).toEqual([
      "reader",
      "commenter",
      "editor",
      "administrator",
    ]);
    expect((await agree(NOWHERE)).status).toBe(404);
    expect((await turnDown(id, admin)).status).toBe(204);
    expect((await one(id)).status).toBe(404);
    expect(await roleOf(anna)).toBeUndefined();
  });

  it("does not lower a role that was granted meanwhile", async () => {
    await request(anna);
    await call(test.deps, share, {
      params: { id: root },
      body: { user_id: anna.id, role: "owner" },
      token: TEST_TOKEN,
    });
    expect((await agree(await firstId())).status).toBe(204);
    expect(await roleOf(anna)).toBe("owner");
  });

  it("succeeds once for two concurrent responses", async () => {
    await request(anna);
    const id = await firstId();
    const both = await Promise.all([agree(id), agree(id)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([204, 404]);
    expect(await roleOf(anna)).toBe("reader");
  });
});
