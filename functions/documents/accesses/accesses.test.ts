import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToken } from "#lib/documents/users/tokens.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { route as make } from "../documents/create.ts";
import { route as makeChild } from "../documents/create-child.ts";
import { route as drop } from "../documents/delete.ts";
import { route as read } from "../documents/get.ts";
import { route as create } from "./create.ts";
import { route as remove } from "./delete.ts";
import { route as get } from "./get.ts";
import { route as list } from "./list.ts";
import { route as replace } from "./replace.ts";
import { route as update } from "./update.ts";

const NOBODY = "11111111-1111-4111-8111-111111111111";
const DENIED = { detail: "You do not have permission to perform this action." };

interface Person {
  readonly id: string;
  readonly token: string;
}

let test: TestDeps;
let root: string;
beforeEach(async () => {
  test = await testDeps();
  root = (await call(test.deps, make, { body: { title: "Plans" }, token: TEST_TOKEN })).body.id;
  test.clock.advance(1_000);
});
afterEach(() => test.close());

type Who = Person | null;
const tokenOf = (who: Who | undefined) => (who === undefined ? TEST_TOKEN : (who?.token ?? null));
const person = async (name: string): Promise<Person> => {
  const { token, record } = await createToken(test.deps, { email: `${name}@example.com`, name });
  return { id: record.user, token };
};
const share = (id: string, body: object, who?: Who) =>
  call(test.deps, create, { params: { id }, body, token: tokenOf(who) });
const rows = (id: string, who?: Who) => call(test.deps, list, { params: { id }, token: tokenOf(who) });
const row = (id: string, accessId: string, who?: Who) =>
  call(test.deps, get, { params: { id, accessId }, token: tokenOf(who) });
const change = (id: string, accessId: string, body: object, who?: Who) =>
  call(test.deps, update, { params: { id, accessId }, body, token: tokenOf(who) });
const revoke = (id: string, accessId: string, who?: Who) =>
  call(test.deps, remove, { params: { id, accessId }, token: tokenOf(who) });
const open = (id: string, who?: Who) => call(test.deps, read, { params: { id }, token: tokenOf(who) });
const child = async (id: string) =>
  (await call(test.deps, makeChild, { params: { id }, body: {}, token: TEST_TOKEN })).body.id as string;
const ownersRow = async (id = root): Promise<string> =>
  (await rows(id)).body.find(({ role }: { role: string }) => role === "owner").id;

describe("sharing a document", () => {
  it("gives a user a role, which the document counts and the log records", async () => {
    const anna = await person("anna");
    const { status, body } = await share(root, { user_id: anna.id.toUpperCase(), role: "editor" });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      team: null,
      role: "editor",
      max_ancestors_role: null,
      max_role: "editor",
      document: { id: root, path: expect.stringMatching(/^\w{7}$/), depth: 1 },
      user: {
        id: anna.id,
        email: "anna@example.com",
        full_name: "anna",
        short_name: "anna",
        language: null,
        is_first_connection: true,
      },
      abilities: {
        destroy: true,
        update: true,
        partial_update: true,
        retrieve: true,
        set_role_to: ["reader", "commenter", "editor", "administrator", "owner"],
      },
    });
    expect((await open(root, anna)).body).toMatchObject({ user_role: "editor", nb_accesses_direct: 2 });
    const [told] = (await readLog(test.deps)).records;
    expect(told).toMatchObject({ topic: "documents.shared" });
    expect(JSON.parse(told?.data ?? "")).toEqual({
      document_id: root,
      title: "Plans",
      parent_id: null,
      user_id: expect.any(String),
      change: "given",
      shared_with: anna.id,
      team: null,
      role: "editor",
    });
  });

  it("gives a team a role; the default is reader", async () => {
    const { status, body } = await share(root, { team: "press" });
    expect([status, body.user, body.team, body.role]).toEqual([201, null, "press", "reader"]);
    expect((await share(root, { team: "press" })).body).toEqual({
      __all__: ["This team is already in this document."],
    });
    expect((await revoke(root, body.id)).status).toBe(204);
    expect((await rows(root)).body).toHaveLength(1);
  });

  it("reports invalid fields", async () => {
    const anna = await person("anna");
    await share(root, { user_id: anna.id });
    const both = { __all__: ["Either user or team must be set, not both."] };
    for (const [body, said] of [
      [{ user_id: anna.id }, { __all__: ["This user is already in this document."] }],
      [{ user_id: anna.id, team: "press" }, both],
      [{}, both],
      [{ user_id: NOBODY }, { user_id: [`Invalid pk "${NOBODY}" - object does not exist.`] }],
      [{ user_id: "anna" }, { user_id: ["Must be a valid UUID."] }],
      [{ team: "t".repeat(101) }, { team: ["Ensure this field has no more than 100 characters."] }],
      [{ user_id: anna.id, role: "king" }, { role: ['"king" is not a valid choice.'] }],
    ] as const)
      expect(await share(root, body)).toEqual({ status: 400, body: said });
  });

  it("requires an administrator or owner, and owners for the role owner, on descendants too", async () => {
    const [admin, editor, other] = [await person("admin"), await person("editor"), await person("other")];
    await share(root, { user_id: admin.id, role: "administrator" });
    await share(root, { user_id: editor.id, role: "editor" });
    const leaf = await child(root);
    expect(await share(leaf, { user_id: other.id }, editor)).toEqual({ status: 403, body: DENIED });
    expect((await share(root, { user_id: other.id }, null)).status).toBe(401);
    expect((await share(root, { user_id: other.id }, other)).status).toBe(403);
    expect(await share(leaf, { user_id: other.id, role: "owner" }, admin)).toEqual({
      status: 403,
      body: { detail: "Only owners of a document can assign other users as owners." },
    });
    expect((await share(leaf, { user_id: other.id, role: "administrator" }, admin)).status).toBe(201);
    expect((await open(root, other)).status).toBe(403);
    expect((await open(leaf, other)).body.user_role).toBe("administrator");
    expect((await share(NOBODY, { user_id: other.id })).status).toBe(404);
  });

  it("ignores all other fields of the body", async () => {
    const anna = await person("anna");
    const forged = { id: NOBODY, document: NOBODY, created_at: "2001-01-01", revision: 9 };
    const { body } = await share(root, { ...forged, user_id: anna.id });
    expect(body.id).not.toBe(NOBODY);
    expect(body.document.id).toBe(root);
  });

  it("creates one row for two concurrent requests with the same user", async () => {
    const anna = await person("anna");
    const both = await Promise.all([
      share(root, { user_id: anna.id, role: "reader" }),
      share(root, { user_id: anna.id, role: "editor" }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 400]);
    expect((await open(root)).body.nb_accesses_direct).toBe(2);
  });
});

describe("the list of accesses", () => {
  it("contains the accesses of the ancestors, root first, with each one's inherited role", async () => {
    const anna = await person("anna");
    const leaf = await child(await child(root));
    await share(root, { user_id: anna.id, role: "editor" });
    await share(leaf, { user_id: anna.id, role: "administrator" });
    const { body } = await rows(leaf);
    expect(
      body.map((one: { document: { depth: number }; role: string; max_ancestors_role: string }) => [
        one.document.depth,
        one.role,
        one.max_ancestors_role,
      ]),
    ).toEqual([
      [1, "owner", null],
      [1, "editor", null],
      [3, "administrator", "editor"],
    ]);
    expect(body[2]).toMatchObject({
      max_role: "administrator",
      abilities: { set_role_to: ["editor", "administrator", "owner"] },
    });
    expect(body[2].document.path.startsWith(body[0].document.path)).toBe(true);
  });

  it("shows members without management rights only the managers' names", async () => {
    const [anna, ben] = [await person("anna"), await person("ben")];
    await share(root, { user_id: anna.id });
    await share(root, { user_id: ben.id, role: "administrator" });
    const { body } = await rows(root, anna);
    expect(body.map(({ role, user }: { role: string; user: object }) => [role, user])).toEqual([
      ["owner", { full_name: "owner", short_name: "owner" }],
      ["administrator", { full_name: "ben", short_name: "ben" }],
    ]);
    expect(JSON.stringify(body)).not.toContain("@");
    expect(body[0].abilities).toMatchObject({ destroy: false, retrieve: false, set_role_to: [] });
  });

  it("is empty for users without a role, and requires authentication", async () => {
    const anna = await person("anna");
    expect(await rows(root, anna)).toEqual({ status: 200, body: [] });
    expect((await rows(root, null)).status).toBe(401);
    expect((await rows(NOBODY)).status).toBe(404);
  });

  it("is unavailable in the trash", async () => {
    const anna = await person("anna");
    const { body } = await share(root, { user_id: anna.id });
    await call(test.deps, drop, { params: { id: root }, token: TEST_TOKEN });
    expect((await rows(root)).status).toBe(403);
    expect((await rows(root, anna)).status).toBe(404);
    expect((await revoke(root, body.id)).status).toBe(403);
    expect((await share(root, { team: "press" })).status).toBe(403);
  });
});

describe("an access", () => {
  it("is readable by its user and by managers, and only under its document", async () => {
    const [anna, ben] = [await person("anna"), await person("ben")];
    const { body } = await share(root, { user_id: anna.id });
    await share(root, { user_id: ben.id });
    const leaf = await child(root);
    expect((await row(root, body.id)).body).toEqual(body);
    expect((await row(root, body.id, anna)).body).toMatchObject({
      user: { full_name: "anna" },
      role: "reader",
    });
    expect(await row(root, body.id, ben)).toEqual({ status: 403, body: DENIED });
    expect(await row(leaf, body.id)).toEqual({
      status: 404,
      body: { detail: "No DocumentAccess matches the given query." },
    });
    expect((await row(root, body.id, null)).status).toBe(401);
    expect((await row(root, body.id, await person("other"))).status).toBe(403);
  });

  it("changes its role and nothing else", async () => {
    const [anna, ben] = [await person("anna"), await person("ben")];
    const { body } = await share(root, { user_id: anna.id });
    const changed = await change(root, body.id, { role: "administrator", user_id: ben.id, team: "x" });
    expect(changed).toMatchObject({ status: 200, body: { role: "administrator", user: { id: anna.id } } });
    expect((await open(root, anna)).body.user_role).toBe("administrator");
    expect((await open(root, ben)).status).toBe(403);
    const put = await call(test.deps, replace, {
      params: { id: root, accessId: body.id },
      body: { role: "editor" },
      token: TEST_TOKEN,
    });
    expect(put.body.role).toBe("editor");
    expect((await change(root, body.id, { role: "reader" }, anna)).status).toBe(403);
    expect((await change(root, body.id, { role: "king" })).status).toBe(400);
  });

  it("is never raised to owner by an administrator, who cannot change an owner's access", async () => {
    const admin = await person("admin");
    const { body } = await share(root, { user_id: admin.id, role: "administrator" });
    expect((await change(root, body.id, { role: "owner" }, admin)).status).toBe(403);
    const own = await ownersRow();
    expect((await change(root, own, { role: "reader" }, admin)).status).toBe(403);
    expect((await revoke(root, own, admin)).status).toBe(403);
    expect((await change(root, body.id, { role: "reader" }, admin)).status).toBe(200);
    expect((await open(root, admin)).body.user_role).toBe("reader");
  });

  it("is deleted together with its permissions and count", async () => {
    const anna = await person("anna");
    const { body } = await share(root, { user_id: anna.id, role: "owner" });
    await open(root, anna);
    expect(await revoke(root, body.id)).toEqual({ status: 204, body: undefined });
    expect((await open(root, anna)).status).toBe(403);
    expect((await open(root)).body.nb_accesses_direct).toBe(1);
    expect((await revoke(root, body.id)).status).toBe(404);
  });
});

describe("the last owner of a root", () => {
  it("cannot be removed or changed", async () => {
    const own = await ownersRow();
    expect((await revoke(root, own)).status).toBe(403);
    expect((await change(root, own, { role: "reader" })).status).toBe(403);
    expect((await row(root, own)).body.abilities).toEqual({
      destroy: false,
      update: false,
      partial_update: false,
      retrieve: true,
      set_role_to: [],
    });
  });

  it.each(["delete", "change"] as const)("remains if two owners go concurrently (%s)", async (how) => {
    const anna = await person("anna");
    const { body } = await share(root, { user_id: anna.id, role: "owner" });
    const own = await ownersRow();
    const go = (id: string, who?: Who) =>
      how === "delete" ? revoke(root, id, who) : change(root, id, { role: "reader" }, who);
    const both = await Promise.all([go(own), go(body.id, anna)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([how === "delete" ? 204 : 200, 403]);
    const owners = (await Promise.all([open(root), open(root, anna)])).filter(
      (seen) => seen.body.user_role === "owner",
    );
    expect(owners).toHaveLength(1);
  });

  it("of a child may be removed, because owners are inherited", async () => {
    const anna = await person("anna");
    const leaf = await child(root);
    const { body } = await share(leaf, { user_id: anna.id, role: "owner" });
    expect((await revoke(leaf, body.id, anna)).status).toBe(204);
  });
});
