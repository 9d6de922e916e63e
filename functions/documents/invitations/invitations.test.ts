import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acceptInvitations } from "#lib/documents/sharing/accept-invitations.ts";
import { planInvitation } from "#lib/documents/sharing/invitations.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { getUser } from "#lib/documents/users/users.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { writeRows } from "#lib/testing/test-documents.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { route as share } from "../accesses/create.ts";
import { route as make } from "../documents/create.ts";
import { route as makeChild } from "../documents/create-child.ts";
import { route as read } from "../documents/get.ts";
import { route as me } from "../users/me.ts";
import { route as create } from "./create.ts";
import { route as remove } from "./delete.ts";
import { route as get } from "./get.ts";
import { route as list } from "./list.ts";
import { route as replace } from "./replace.ts";
import { route as update } from "./update.ts";

const WEEK_MS = 604_800_000;
const host = { host: "docs.example" };

interface Person {
  readonly id: string;
  readonly token: string;
}

let test: TestDeps;
let root: string;
beforeEach(async () => {
  test = await testDeps();
  root = (await call(test.deps, make, { body: { title: "Plans" }, token: TEST_TOKEN })).body.id;
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
const invite = (body: object, who?: Who, id = root) =>
  call(test.deps, create, { params: { id }, body, token: tokenOf(who) });
const invitations = (who?: Who, query: Record<string, string> = {}, id = root) =>
  call(test.deps, list, { params: { id }, query, token: tokenOf(who), headers: host });
const one = (invitationId: string, who?: Who, id = root) =>
  call(test.deps, get, { params: { id, invitationId }, token: tokenOf(who) });
const change = (invitationId: string, body: object, who?: Who) =>
  call(test.deps, update, { params: { id: root, invitationId }, body, token: tokenOf(who) });
const takeBack = (invitationId: string, who?: Who) =>
  call(test.deps, remove, { params: { id: root, invitationId }, token: tokenOf(who) });
const roleOf = async (who: Who, id = root) =>
  (await call(test.deps, read, { params: { id }, token: tokenOf(who) })).body.user_role;

describe("an invitation", () => {
  it("stores the address in lower case, and its issuer", async () => {
    const admin = await person("admin", "administrator");
    const { status, body } = await invite({ email: "New.One@Example.com", role: "editor" }, admin);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      email: "new.one@example.com",
      document: root,
      role: "editor",
      issuer: admin.id,
      created_at: new Date(test.clock.now()).toISOString(),
      is_expired: false,
      abilities: { destroy: true, update: true, partial_update: true, retrieve: true },
    });
    expect((await one(body.id)).body).toEqual(body);
  });

  it("reports invalid fields", async () => {
    await invite({ email: "new@example.com" });
    await person("anna");
    const taken = { email: ["This email is already associated to a registered user."] };
    for (const [body, said] of [
      [
        { email: "NEW@example.com" },
        { __all__: ["Document invitation with this Email address and Document already exists."] },
      ],
      [{ email: "Anna@Example.com" }, taken],
      [{ email: "owner@weft.local" }, taken],
      [{ email: "no" }, { email: ["Enter a valid email address."] }],
      [{ email: "a@example.com\r\nBcc: b@example.com" }, { email: ["Enter a valid email address."] }],
      [{}, { email: ["This field is required."] }],
      [{ email: "x@example.com", role: "king" }, { role: ['"king" is not a valid choice.'] }],
    ] as const)
      expect(await invite(body)).toEqual({ status: 400, body: said });
    const both = await Promise.all([invite({ email: "two@a.example" }), invite({ email: "two@a.example" })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 400]);
  });

  it("requires an administrator or owner, also inherited; only owners invite owners", async () => {
    const [admin, editor, other] = [
      await person("admin", "administrator"),
      await person("editor", "editor"),
      await person("other"),
    ];
    const { body } = await invite({ email: "new@example.com" });
    for (const who of [editor, other]) {
      expect((await invite({ email: "x@example.com" }, who)).status).toBe(403);
      expect((await one(body.id, who)).status).toBe(403);
      expect((await change(body.id, { role: "editor" }, who)).status).toBe(403);
      expect((await takeBack(body.id, who)).status).toBe(403);
      expect((await invitations(who)).body).toMatchObject({ count: 0, results: [] });
    }
    expect((await invite({ email: "x@example.com" }, null)).status).toBe(401);
    expect((await invitations(null)).status).toBe(401);
    const ownersOnly = { role: ["Only owners of a document can invite other users as owners."] };
    expect(await invite({ email: "x@example.com", role: "owner" }, admin)).toEqual({
      status: 400,
      body: ownersOnly,
    });
    expect((await change(body.id, { role: "owner" }, admin)).body).toEqual(ownersOnly);
    expect((await invite({ email: "x@example.com", role: "owner" })).status).toBe(201);
    const { body: leaf } = await call(test.deps, makeChild, {
      params: { id: root },
      body: {},
      token: TEST_TOKEN,
    });
    expect((await invite({ email: "x@example.com" }, admin, leaf.id)).status).toBe(201);
    expect((await one(body.id, undefined, leaf.id)).status).toBe(404);
  });

  it("changes its role and its address, and frees the old address", async () => {
    const { body } = await invite({ email: "new@example.com" });
    await invite({ email: "taken@example.com" });
    const forged = { issuer: "somebody", document: "another", created_at: "2001-01-01" };
    expect((await change(body.id, { role: "editor", ...forged })).body).toEqual({ ...body, role: "editor" });
    expect((await change(body.id, { email: "taken@example.com" })).status).toBe(400);
    const put = await call(test.deps, replace, {
      params: { id: root, invitationId: body.id },
      token: TEST_TOKEN,
      body: { email: "Other@example.com", role: "reader" },
    });
    expect(put.body).toMatchObject({ id: body.id, email: "other@example.com", role: "reader" });
    expect((await invite({ email: "new@example.com" })).status).toBe(201);
    expect(await takeBack(body.id)).toEqual({ status: 204, body: undefined });
    expect((await one(body.id)).status).toBe(404);
    expect((await invite({ email: "other@example.com" })).status).toBe(201);
  });
});

describe("the list of invitations", () => {
  it("is paginated, latest first, and includes expired ones", async () => {
    for (const name of ["first", "second", "third"]) {
      await invite({ email: `${name}@example.com` });
      test.clock.advance(1_000);
    }
    test.clock.advance(WEEK_MS - 2_000);
    const { body } = await invitations(undefined, { page_size: "2" });
    expect(body.count).toBe(3);
    expect(body.next).toBe(`http://docs.example/api/v1.0/documents/${root}/invitations?page_size=2&page=2`);
    const shown = [
      ...body.results,
      ...(await invitations(undefined, { page_size: "2", page: "2" })).body.results,
    ];
    expect(shown.map(({ email, is_expired }) => [email, is_expired])).toEqual([
      ["third@example.com", false],
      ["second@example.com", false],
      ["first@example.com", true],
    ]);
    expect((await invitations(undefined, { page: "2" })).status).toBe(404);
  });
});

describe("a new user with the address", () => {
  it("gets the role at once, and the invitation is deleted", async () => {
    await invite({ email: "new@example.com", role: "editor" });
    await invite({ email: "else@example.com", role: "editor" });
    const newcomer = await person("New");
    expect(await roleOf(newcomer)).toBe("editor");
    expect((await invitations()).body.results.map(({ email }: { email: string }) => email)).toEqual([
      "else@example.com",
    ]);
  });

  it("does not get it after the expiry; the invitation stays in the list", async () => {
    await invite({ email: "new@example.com", role: "editor" });
    test.clock.advance(WEEK_MS + 1);
    const newcomer = await person("new");
    expect(await roleOf(newcomer)).toBeUndefined();
    expect((await invitations()).body.count).toBe(1);
  });

  it("gets it with their first request if a command created the user in the tables, with an event", async () => {
    await invite({ email: "new@example.com", role: "editor" });
    const before = (await readLog(test.deps)).records.length;
    const { tables, ids, clock } = test.deps;
    const { token, record } = await createToken({ tables, ids, clock }, { email: "new@example.com" });
    expect(await roleOf({ id: record.user, token })).toBe("editor");
    expect((await readLog(test.deps)).records).toHaveLength(before + 1);
    expect(await roleOf({ id: record.user, token })).toBe("editor");
    expect((await readLog(test.deps)).records).toHaveLength(before + 1);
    expect((await invitations()).body.count).toBe(0);
  });

  it("gets all roles even if the process that created the user died before or during the conversion", async () => {
    const { id: second } = (await call(test.deps, make, { body: {}, token: TEST_TOKEN })).body;
    await invite({ email: "new@example.com", role: "editor" });
    const asked = {
      params: { id: second },
      body: { email: "new@example.com", role: "reader" },
      token: TEST_TOKEN,
    };
    expect((await call(test.deps, create, asked)).status).toBe(201);
    const { tables, ids, clock } = test.deps;
    const { token, record } = await createToken({ tables, ids, clock }, { email: "new@example.com" });
    let changes = 0;
    const dying = {
      ...test.deps,
      outbox: {
        ...test.deps.outbox,
        commit: (...given: Parameters<typeof test.deps.outbox.commit>) => {
          changes += 1;
          return changes === 2 ? Promise.reject(new Error("died")) : test.deps.outbox.commit(...given);
        },
      },
    };
    await expect(acceptInvitations(dying, await getUser(test.deps, record.user))).rejects.toThrow("died");
    for (const [document, role] of [
      [root, "editor"],
      [second, "reader"],
    ]) {
      const { body } = await call(test.deps, read, { params: { id: document ?? "" }, token });
      expect(body.user_role).toBe(role);
    }
    expect((await getUser(test.deps, record.user)).invitations_pending).toBeUndefined();
    const told = (await readLog(test.deps)).records.map(({ data }) => JSON.parse(data ?? "").change);
    expect(told.filter((change) => change === "given")).toHaveLength(2);
  });

  it("is named in the event without the address", async () => {
    await invite({ email: "new@example.com", role: "editor" });
    const { id, token } = await person("new");
    await call(test.deps, me, { token });
    const [told, invited] = (await readLog(test.deps)).records.map(({ data }) => JSON.parse(data ?? ""));
    expect(told).toMatchObject({ change: "given", shared_with: id, role: "editor" });
    expect(invited).toMatchObject({ change: "invited", shared_with: null, role: "editor" });
    expect(JSON.stringify(invited)).not.toContain("example.com");
  });

  it("keeps a higher role, and gets no role twice", async () => {
    await invite({ email: "new@example.com", role: "editor" });
    const newcomer = await person("new");
    const user = await getUser(test.deps, newcomer.id);
    await Promise.all([acceptInvitations(test.deps, user), acceptInvitations(test.deps, user)]);
    const { body } = await call(test.deps, read, { params: { id: root }, token: TEST_TOKEN });
    expect([body.nb_accesses_direct, await roleOf(newcomer)]).toEqual([2, "editor"]);
  });

  it("gets it as an existing user with the next request of their own profile", async () => {
    const anna = await person("anna");
    await call(test.deps, me, { token: anna.token });
    const made = { document: root, email: "anna@example.com", role: "editor", issuer: null } as const;
    await writeRows(test.deps, planInvitation(test.deps, made).writes);
    expect(await roleOf(anna)).toBeUndefined();
    expect((await call(test.deps, me, { token: anna.token })).status).toBe(200);
    expect(await roleOf(anna)).toBe("editor");
    expect((await invitations()).body.count).toBe(0);
  });
});
