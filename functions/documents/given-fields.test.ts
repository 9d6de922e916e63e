import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  base64,
  type Caller,
  createOwnedRecords,
  type OwnedRecords,
  type Owners,
  startOwners,
} from "#lib/testing/test-owners.ts";

const NOWHERE = "11111111-1111-4111-8111-111111111111";

let owners: Owners;
let anna: Caller;
let ben: Caller;
let mine: OwnedRecords;
let others: OwnedRecords;
beforeAll(async () => {
  owners = await startOwners();
  ({ anna, ben } = owners);
  mine = await createOwnedRecords(anna, owners.owner, owners.carol);
  others = await createOwnedRecords(ben, anna, owners.owner);
});
afterAll(() => owners[Symbol.asyncDispose]());

/** Fields of a document that only the service sets, and their names in other services. */
const SET_BY_THE_SERVICE = () => ({
  creator: ben.id,
  creator_id: ben.id,
  path: "0000001",
  depth: 9,
  numchild: 7,
  steplen: 1,
  deleted_at: "2020-01-01T00:00:00Z",
  ancestors_deleted_at: "2020-01-01T00:00:00Z",
  created_at: "2020-01-01T00:00:00Z",
  updated_at: "2020-01-01T00:00:00Z",
  parent: others.id,
  parent_id: others.id,
  order: "a0",
  segment: "0000001",
  chain: [others.id],
  link_reach: "public",
  link_role: "editor",
  computed_link_reach: "public",
  is_favorite: true,
  accesses: 5,
  owners: 0,
  nb_accesses_direct: 9,
  nb_accesses_ancestors: 9,
  user_role: "owner",
  role: "owner",
  roles: ["owner"],
  abilities: { destroy: true },
  revision: 99,
  position_version: 99,
  height: 0,
  pk: others.id,
  sk: "document",
  workspace: "other",
  processed: true,
  pending_update_at: 1,
  retention_cursor: "z",
  duplicated_from: others.id,
  attachments: ["x"],
  is_deleted: true,
  is_staff: true,
});
const NAMES = [
  "creator",
  "path",
  "depth",
  "numchild",
  "deleted_at",
  "created_at",
  "link_reach",
  "link_role",
  "is_favorite",
  "nb_accesses_direct",
  "nb_accesses_ancestors",
  "user_role",
  "abilities",
];
const kept = (record: Record<string, unknown>) =>
  Object.fromEntries(NAMES.map((name) => [name, record[name]]));
/** Field names that could pollute a prototype. */
const POLLUTING =
  '{"title":"x","__proto__":{"role":"owner","is_active":true},"constructor":{"prototype":{"role":"owner"}}}';

describe("request fields of a document", () => {
  it("set only the writable fields at creation", async () => {
    const plain = await anna.send("POST", "/documents/", { title: "Plain" });
    const made = await anna.send("POST", "/documents/", { title: "Given", ...SET_BY_THE_SERVICE() });
    const same = (one: Record<string, unknown>) => ({ ...kept(one), created_at: "", path: "" });
    expect(same(made)).toEqual(same(plain));
    expect(made.creator).toBe(anna.id);
    expect(made.path).not.toBe("0000001");
    expect(made.created_at > "2026").toBe(true);
    expect(await anna.send("GET", `/documents/${made.id}/`)).toEqual(made);
    expect((await owners.anonymous.request("GET", `/documents/${made.id}/`)).status).toBe(401);
  });

  it("cannot override the parent in the path", async () => {
    const body = { title: "Child", ...SET_BY_THE_SERVICE() };
    const made = await anna.send("POST", `/documents/${mine.id}/children/`, body);
    expect([made.depth, made.numchild, made.creator, made.deleted_at]).toEqual([2, 0, anna.id, null]);
    expect((await anna.send("GET", `/documents/${mine.id}/children/`)).results[0].id).toBe(made.id);
    expect((await ben.send("GET", `/documents/${others.id}/children/`)).count).toBe(0);
  });

  it.each(["PUT", "PATCH"])("in %s change only the title", async (method) => {
    const before = await anna.send("GET", `/documents/${mine.id}/`);
    const body = { title: `By ${method}`, id: others.id, content: base64("x"), ...SET_BY_THE_SERVICE() };
    await anna.send(method, `/documents/${mine.id}/`, body);
    const after = await anna.send("GET", `/documents/${mine.id}/`);
    expect([after.id, after.title, kept(after)]).toEqual([mine.id, `By ${method}`, kept(before)]);
    expect((await anna.request("GET", `/documents/${mine.id}/content/`)).text).toBe("second");
    expect((await ben.send("GET", `/documents/${others.id}/`)).title).toBe("Of ben");
  });

  it("cannot set an id that is in use", async () => {
    for (const id of [others.id, others.id.toUpperCase(), mine.id]) {
      const { status } = await anna.request("POST", "/documents/", { id, title: "Mine now" });
      expect(status).toBe(400);
      const child = await anna.request("POST", `/documents/${mine.id}/children/`, { id, title: "Mine now" });
      expect(child.status).toBe(400);
    }
    expect((await ben.send("GET", `/documents/${others.id}/`)).title).toBe("Of ben");
  });

  it("of a content request set only the content", async () => {
    const body = {
      content: base64("third"),
      etag: "x",
      version: others.version,
      author: ben.id,
      id: others.id,
    };
    await anna.send("PATCH", `/documents/${mine.id}/content/`, { ...body, ...SET_BY_THE_SERVICE() });
    expect((await anna.request("GET", `/documents/${mine.id}/content/`)).text).toBe("third");
    expect((await ben.request("GET", `/documents/${others.id}/content/`)).text).toBe("second");
  });

  it("of a move, a copy or a link have no other effect", async () => {
    const child = await anna.send("POST", `/documents/${mine.id}/children/`, { title: "Moves" });
    const move = { target_document_id: mine.id, position: "first-child", ...SET_BY_THE_SERVICE() };
    await anna.send("POST", `/documents/${child.id}/move/`, move);
    const copy = await anna.send("POST", `/documents/${child.id}/duplicate/`, SET_BY_THE_SERVICE());
    const made = await anna.send("GET", `/documents/${copy.id}/`);
    expect([made.creator, made.link_reach, made.deleted_at]).toEqual([anna.id, "restricted", null]);
    const link = { ...SET_BY_THE_SERVICE(), link_reach: "authenticated", link_role: "reader", id: others.id };
    await anna.send("PUT", `/documents/${child.id}/link-configuration/`, link);
    const after = await anna.send("GET", `/documents/${child.id}/`);
    expect([after.link_reach, after.deleted_at, after.creator]).toEqual(["authenticated", null, anna.id]);
    expect((await ben.send("GET", `/documents/${others.id}/`)).link_reach).toBe("restricted");
  });

  it("never reach a prototype", async () => {
    const json = { "content-type": "application/json" };
    for (const [method, path] of [
      ["POST", "/documents/"],
      ["PATCH", `/documents/${mine.id}/`],
    ] as const)
      expect((await anna.request(method, path, POLLUTING, json)).status).toBeLessThan(300);
    expect((await owners.anonymous.request("GET", `/documents/${mine.id}/`)).status).toBe(401);
    expect((await ben.request("GET", `/documents/${mine.id}/`)).status).toBe(403);
  });
});

describe("request fields of a document's records", () => {
  it("grant no rights through other fields", async () => {
    const sham = {
      document: others.id,
      document_id: others.id,
      id: NOWHERE,
      created_at: "2020-01-01T00:00:00Z",
    };
    const user = owners.carol.id;
    const given = { user_id: user, role: "reader", ...sham, abilities: { update: true }, max_role: "owner" };
    const access = await anna.send("POST", `/documents/${mine.id}/accesses/`, given);
    expect([access.document.id, access.role, access.user.id]).toEqual([mine.id, "reader", user]);
    expect(access.id).not.toBe(NOWHERE);
    const changed = { role: "commenter", user: anna.id, user_id: anna.id, team: "evil", ...sham };
    await anna.send("PATCH", `/documents/${mine.id}/accesses/${access.id}/`, changed);
    const after = await anna.send("GET", `/documents/${mine.id}/accesses/${access.id}/`);
    expect([after.user.id, after.team, after.role, after.document.id]).toEqual([
      user,
      null,
      "commenter",
      mine.id,
    ]);
    const of = (await ben.send("GET", `/documents/${others.id}/accesses/`)) as { user: { id: string } }[];
    expect(of.map((one) => one.user.id).toSorted()).toEqual([anna.id, ben.id].toSorted());
  });

  it("of an invitation cannot set its issuer, document or expiry", async () => {
    const sham = {
      issuer: ben.id,
      document: others.id,
      created_at: "2999-01-01T00:00:00Z",
      is_expired: false,
    };
    const body = { email: "new@example.com", role: "reader", ...sham };
    const made = await anna.send("POST", `/documents/${mine.id}/invitations/`, body);
    expect([made.issuer, made.document]).toEqual([anna.id, mine.id]);
    expect(made.created_at < "2999").toBe(true);
    const path = `/documents/${mine.id}/invitations/${made.id}/`;
    await anna.send("PATCH", path, { role: "editor", ...sham });
    expect(await anna.send("GET", path)).toEqual({ ...made, role: "editor" });
    expect((await ben.send("GET", `/documents/${others.id}/invitations/`)).count).toBe(1);
  });

  it("do not let a reader raise any role, including their own", async () => {
    const own = (await ben.send("GET", `/documents/${others.id}/accesses/`)).find(
      (one: { user: { id: string } }) => one.user.id === anna.id,
    );
    const at = `/documents/${others.id}/accesses/`;
    for (const [method, path, body] of [
      ["PATCH", `${at}${own.id}/`, { role: "owner" }],
      ["PUT", `${at}${own.id}/`, { role: "owner" }],
      ["POST", at, { user_id: anna.id, role: "owner" }],
      ["POST", at, { team: "all", role: "owner" }],
      ["POST", `/documents/${others.id}/invitations/`, { email: "a2@example.com", role: "owner" }],
      ["POST", `/documents/${others.id}/ask-for-access/${others.request}/accept/`, { role: "owner" }],
    ] as const)
      expect([403, 404], `${method} ${path}`).toContain((await anna.request(method, path, body)).status);
    expect((await anna.send("GET", `/documents/${others.id}/`)).user_role).toBe("reader");
  });

  it("of an access request apply only to the caller and to permitted roles", async () => {
    const sham = { user: ben.id, user_id: ben.id, document: others.id, id: NOWHERE };
    const root = (await ben.send("POST", "/documents/", { title: "Asked for" })).id;
    await anna.send("POST", `/documents/${root}/ask-for-access/`, { role: "editor", ...sham });
    const { results } = await ben.send("GET", `/documents/${root}/ask-for-access/`);
    expect(results).toMatchObject([{ user: { id: anna.id }, document: root, role: "editor" }]);
    const { status } = await ben.request(
      "POST",
      `/documents/${root}/ask-for-access/${results[0].id}/accept/`,
      {
        role: "reader",
        ...sham,
      },
    );
    expect(status).toBeLessThan(300);
    expect((await anna.send("GET", `/documents/${root}/`)).user_role).toBe("reader");
  });

  it("of a comment cannot set its author", async () => {
    const sham = {
      user: ben.id,
      creator: ben.id,
      resolved: true,
      resolved_by: ben.id,
      resolved_at: "2020-01-01",
    };
    const more = {
      ...sham,
      id: NOWHERE,
      document: others.id,
      thread: others.thread,
      reactions: [{ emoji: "👍" }],
    };
    const thread = await anna.send("POST", `/documents/${mine.id}/threads/`, { body: "text", ...more });
    expect([thread.creator.full_name, thread.resolved, thread.resolved_by]).toEqual(["anna", false, null]);
    expect(thread.id).not.toBe(NOWHERE);
    const at = `/documents/${mine.id}/threads/${thread.id}/comments/`;
    const comment = await anna.send("POST", at, { body: "more", ...more });
    expect([comment.user.full_name, comment.reactions]).toEqual(["anna", []]);
    const changed = await anna.send("PATCH", `${at}${comment.id}/`, { body: "other", ...more });
    expect([changed.user.full_name, changed.reactions, changed.id]).toEqual(["anna", [], comment.id]);
    expect(await ben.send("GET", `/documents/${others.id}/threads/`)).toHaveLength(1);
  });

  it("of a user set only the language", async () => {
    const before = await anna.send("GET", "/users/me/");
    const sham = { sub: "ben", email: "ben@example.com", full_name: "Ben", is_active: false, is_staff: true };
    const body = { language: "fr-fr", ...sham, id: ben.id, is_superuser: true, scopes: ["root"] };
    await anna.send("PATCH", `/users/${anna.id}/`, body);
    expect(await anna.send("GET", "/users/me/")).toEqual({ ...before, language: "fr-fr" });
    expect((await anna.request("PATCH", `/users/${ben.id}/`, body)).status).toBe(403);
    expect((await anna.request("POST", "/access-tokens", { email: "anna@example.com" })).status).toBe(403);
  });
});
