import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  base64,
  type Caller,
  createOwnedRecords,
  type OwnedRecords,
  type Owners,
  startOwners,
} from "#lib/testing/test-owners.ts";

let owners: Owners;
let anna: Caller;
let ben: Caller;
let mine: OwnedRecords;
let others: OwnedRecords;
beforeAll(async () => {
  owners = await startOwners();
  ({ anna, ben } = owners);
  mine = await createOwnedRecords(anna, owners.owner, owners.carol);
  others = await createOwnedRecords(ben, owners.carol, owners.owner);
});
afterAll(() => owners[Symbol.asyncDispose]());

type Asked = readonly [method: string, path: (ids: OwnedRecords) => string, body?: unknown];
const TEXT = { body: "changed" };
const ROLE = { role: "administrator" };

/** Everything below a document that has an id. */
const BELONGING: readonly Asked[] = [
  ["GET", ({ version }) => `versions/${version}/`],
  ["DELETE", ({ version }) => `versions/${version}/`],
  ["GET", ({ thread }) => `threads/${thread}/`],
  ["DELETE", ({ thread }) => `threads/${thread}/`],
  ["POST", ({ thread }) => `threads/${thread}/resolve/`],
  ["POST", ({ thread }) => `threads/${thread}/unresolve/`],
  ["GET", ({ thread }) => `threads/${thread}/comments/`],
  ["POST", ({ thread }) => `threads/${thread}/comments/`, TEXT],
  ["GET", ({ thread, comment }) => `threads/${thread}/comments/${comment}/`],
  ["PUT", ({ thread, comment }) => `threads/${thread}/comments/${comment}/`, TEXT],
  ["PATCH", ({ thread, comment }) => `threads/${thread}/comments/${comment}/`, TEXT],
  ["DELETE", ({ thread, comment }) => `threads/${thread}/comments/${comment}/`],
  ["POST", ({ thread, comment }) => `threads/${thread}/comments/${comment}/reactions/`, { emoji: "👍" }],
  ["DELETE", ({ thread, comment }) => `threads/${thread}/comments/${comment}/reactions/`, { emoji: "👍" }],
  ["GET", ({ access }) => `accesses/${access}/`],
  ["PUT", ({ access }) => `accesses/${access}/`, ROLE],
  ["PATCH", ({ access }) => `accesses/${access}/`, ROLE],
  ["DELETE", ({ access }) => `accesses/${access}/`],
  ["GET", ({ invitation }) => `invitations/${invitation}/`],
  ["PUT", ({ invitation }) => `invitations/${invitation}/`, { email: "evil@example.com", ...ROLE }],
  ["PATCH", ({ invitation }) => `invitations/${invitation}/`, ROLE],
  ["DELETE", ({ invitation }) => `invitations/${invitation}/`],
  ["GET", ({ request }) => `ask-for-access/${request}/`],
  ["POST", ({ request }) => `ask-for-access/${request}/accept/`, {}],
  ["DELETE", ({ request }) => `ask-for-access/${request}/`],
];

/** The document itself, and its collections. */
const WHOLE: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ["GET", ""],
  ["PUT", "", { title: "changed" }],
  ["PATCH", "", { title: "changed" }],
  ["DELETE", ""],
  ["GET", "content/"],
  ["PATCH", "content/", { content: base64("changed") }],
  ["GET", "formatted-content/"],
  ["GET", "children/"],
  ["POST", "children/", { title: "changed" }],
  ["GET", "tree/"],
  ["POST", "duplicate/", {}],
  ["POST", "favorite/", {}],
  ["DELETE", "favorite/"],
  ["POST", "mask/", {}],
  ["PUT", "link-configuration/", { link_reach: "public", link_role: "editor" }],
  ["POST", "accesses/", { team: "evil", role: "owner" }],
  ["POST", "invitations/", { email: "evil@example.com", role: "owner" }],
  ["GET", "threads/"],
  ["POST", "threads/", TEXT],
  ["GET", "versions/"],
];

/** Everything in a document, as its owner sees it. */
const all = async (of: Caller, { id }: OwnedRecords): Promise<string> => {
  const parts = ["", "content/", "accesses/", "invitations/", "threads/", "versions/", "ask-for-access/"];
  const read = await Promise.all(parts.map((part) => of.request("GET", `/documents/${id}/${part}`)));
  expect(read.map(({ status }) => status)).toEqual(parts.map(() => 200));
  return read.map(({ text }) => text).join("\n");
};

describe("records of another user's document", () => {
  it("are not found by their ids under the caller's document, and do not change", async () => {
    const before = await Promise.all([all(ben, others), all(anna, mine)]);
    for (const [method, path, body] of BELONGING) {
      const own = { ...others, id: mine.id };
      const { status } = await anna.request(method, `/documents/${mine.id}/${path(own)}`, body);
      expect([method, path(own), status]).toEqual([method, path(own), 404]);
      // Also with the caller's thread and another user's comment.
      const mixed = { ...own, thread: mine.thread };
      if (!path(own).includes(others.comment)) continue;
      expect((await anna.request(method, `/documents/${mine.id}/${path(mixed)}`, body)).status).toBe(404);
    }
    expect(await Promise.all([all(ben, others), all(anna, mine)])).toEqual(before);
  });

  it("are not accessible under their own document, by any ids, signed in or anonymous", async () => {
    const before = await all(ben, others);
    for (const [method, path, body] of BELONGING)
      for (const ids of [others, { ...mine, id: others.id }]) {
        const told = [];
        for (const who of [anna, owners.anonymous])
          told.push((await who.request(method, `/documents/${others.id}/${path(ids)}`, body)).status);
        // The response does not reveal whether a record below an existing document exists.
        expect([401, 403, 404], `${method} ${path(ids)}`).toContain(told[0]);
        expect([401, 403, 404], `${method} ${path(ids)}`).toContain(told[1]);
      }
    expect(await all(ben, others)).toBe(before);
  });

  it("have the same response whether they exist or not", async () => {
    const nowhere = "11111111-1111-4111-8111-111111111111";
    const none = { ...mapped(others, () => nowhere), id: others.id };
    for (const [method, path, body] of BELONGING) {
      const [there, not] = await Promise.all(
        [others, none].map((ids) => anna.request(method, `/documents/${others.id}/${path(ids)}`, body)),
      );
      expect([method, path(others), there?.status, there?.text]).toEqual([
        method,
        path(others),
        not?.status,
        not?.text,
      ]);
    }
  });
});

const mapped = (ids: OwnedRecords, to: (id: string) => string): OwnedRecords =>
  Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, to(id)])) as unknown as OwnedRecords;

describe("another user's document", () => {
  it.each([
    ["as it is", (id: string) => id],
    ["in capitals", (id: string) => id.toUpperCase()],
    ["with letters escaped", (id: string) => id.replace(/^./, (one) => `%${one.charCodeAt(0).toString(16)}`)],
  ])("is refused everywhere by its id %s, and stays as it is", async (_, written) => {
    const before = await all(ben, others);
    for (const [method, path, body] of WHOLE) {
      const { status } = await anna.request(method, `/documents/${written(others.id)}/${path}`, body);
      expect([method, path, status]).toEqual([method, path, 403]);
    }
    expect(await all(ben, others)).toBe(before);
  });

  // As clients expect: these lists are empty for users without permission.
  it.each(["accesses/", "invitations/", "ask-for-access/"])(
    "does not show its %s to others",
    async (list) => {
      for (const id of [others.id, others.id.toUpperCase()]) {
        const { status, json } = await anna.request("GET", `/documents/${id}/${list}`);
        expect([status, Array.isArray(json) ? json : (json as { results?: unknown }).results]).toEqual([
          200,
          [],
        ]);
      }
      expect((await owners.anonymous.request("GET", `/documents/${others.id}/${list}`)).status).toBe(401);
    },
  );

  it("is accessible to its owner, with ids in upper case too, including all its records", async () => {
    const ids = mapped(mine, (id) => id.toUpperCase());
    const read = await anna.send("GET", `/documents/${ids.id}/`);
    expect(read.id).toBe(mine.id);
    const thread = await anna.send("GET", `/documents/${ids.id}/threads/${ids.thread}/`);
    expect(thread.id).toBe(mine.thread);
  });

  it.each([".", "%00", "/../", "'--", "{}", "*", "%2e%2e%2f"])(
    "is not found by its id with %s behind",
    async (more) => {
      for (const id of [mine.id, others.id])
        expect([400, 404]).toContain((await anna.request("GET", `/documents/${id}${more}/`)).status);
    },
  );

  it("cannot be moved, and cannot be the target of a move", async () => {
    const child = await ben.send("POST", `/documents/${others.id}/children/`, { title: "Below" });
    for (const target_document_id of [others.id, child.id, others.id.toUpperCase()])
      for (const position of ["first-child", "last-child"]) {
        const body = { target_document_id, position };
        expect((await anna.request("POST", `/documents/${mine.id}/move/`, body)).status).toBe(400);
      }
    for (const position of ["left", "right"]) {
      const body = { target_document_id: child.id, position };
      expect((await anna.request("POST", `/documents/${mine.id}/move/`, body)).status).toBe(400);
    }
    const body = { target_document_id: mine.id, position: "first-child" };
    for (const id of [others.id, child.id])
      expect((await anna.request("POST", `/documents/${id}/move/`, body)).status).toBe(403);
    expect((await ben.send("GET", `/documents/${others.id}/children/`)).count).toBe(1);
    expect((await anna.send("GET", `/documents/${mine.id}/`)).numchild).toBe(0);
  });

  it("with one shared child reveals nothing of its other descendants and ancestors", async () => {
    const root = (await ben.send("POST", "/documents/", { title: "Private" })).id;
    const [open, closed] = [
      (await ben.send("POST", `/documents/${root}/children/`, { title: "Open" })).id,
      (await ben.send("POST", `/documents/${root}/children/`, { title: "Closed" })).id,
    ];
    await ben.send("POST", `/documents/${open}/accesses/`, { user_id: anna.id, role: "editor" });
    expect((await anna.request("GET", `/documents/${open}/`)).status).toBe(200);
    for (const id of [root, closed]) {
      expect((await anna.request("GET", `/documents/${id}/`)).status).toBe(403);
      expect((await anna.request("GET", `/documents/${id}/children/`)).status).toBe(403);
    }
    const seen = JSON.stringify([
      await anna.send("GET", `/documents/${open}/tree/`),
      await anna.send("GET", "/documents/all/"),
      await anna.send("GET", "/documents/search/?q=closed"),
      await anna.send("GET", "/documents/search/?q=private"),
    ]);
    expect(seen).not.toContain(closed);
    expect(seen).not.toContain("Private");
  });

  it("is in none of the lists, with any query", async () => {
    for (const query of [
      "/documents/",
      "/documents/all/",
      "/documents/favorite_list/",
      "/documents/trashbin/",
      "/documents/?is_creator_me=false",
      "/documents/?title=ben",
      "/documents/search/?q=ben",
      `/documents/search/?q=ben&document=${others.id}`,
      `/documents/?creator=${ben.id}`,
    ]) {
      const { status, text } = await anna.request("GET", query);
      expect([200, 400, 403, 404], query).toContain(status);
      expect(text.includes(others.id) && status === 200, query).toBe(false);
    }
  });

  it("is inaccessible to others once it is deleted, and its descendants to everybody", async () => {
    const root = (await ben.send("POST", "/documents/", { title: "Gone" })).id;
    const child = (await ben.send("POST", `/documents/${root}/children/`, { title: "Below" })).id;
    await ben.send("POST", `/documents/${root}/accesses/`, { user_id: anna.id, role: "editor" });
    const thread = await anna.send("POST", `/documents/${root}/threads/`, TEXT);
    await ben.send("DELETE", `/documents/${root}/`);
    for (const id of [root, child])
      for (const [method, path, body] of WHOLE) {
        const { status } = await anna.request(method, `/documents/${id}/${path}`, body);
        expect([403, 404], `${method} ${path}`).toContain(status);
      }
    for (const path of [`threads/${thread.id}/`, "threads/", "content/", "versions/"])
      expect([403, 404]).toContain((await anna.request("GET", `/documents/${root}/${path}`)).status);
    for (const [method, path, body] of [
      ["PATCH", "content/", { content: base64("x") }],
      ["POST", "children/", {}],
      ["PATCH", "", { title: "back" }],
    ] as const)
      expect([403, 404]).toContain((await ben.request(method, `/documents/${root}/${path}`, body)).status);
  });
});
