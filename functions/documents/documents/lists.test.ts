import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LinkReach, LinkRole } from "#lib/documents/access/links.ts";
import type { Role } from "#lib/documents/access/roles.ts";
import { withChangeRow } from "#lib/documents/changes/change-log.ts";
import { adjustAccessCounts, planInitialAccess } from "#lib/documents/grants/grants.ts";
import { documentKey, documentsTable } from "#lib/documents/tables/documents.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { OWNER_ID } from "#lib/documents/users/users.ts";
import { verifyToken } from "#lib/documents/users/verify-token.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { route as create } from "./create.ts";
import { route as createChild } from "./create-child.ts";
import { route as remove } from "./delete.ts";
import { route as favorite } from "./favorite.ts";
import { route as get } from "./get.ts";
import { route as leave } from "./leave.ts";
import { route as list } from "./list.ts";
import { route as listAll } from "./list-all.ts";
import { route as listFavorites } from "./list-favorites.ts";
import { route as listTrash } from "./list-trash.ts";
import { route as mask } from "./mask.ts";
import { route as restore } from "./restore.ts";
import { route as search } from "./search.ts";
import { route as unfavorite } from "./unfavorite.ts";
import { route as unmask } from "./unmask.ts";
import { route as update } from "./update.ts";

const NOWHERE = "11111111-1111-4111-8111-111111111111";
const DAY_MS = 24 * 60 * 60 * 1000;
const NO_RIGHT = { detail: "You do not have permission to perform this action." };

let test: TestDeps;
let other: string;
beforeEach(async () => {
  test = await testDeps();
  other = (await createToken(test.deps, { email: "other@example.com" })).token;
});
afterEach(() => test.close());

type Query = Record<string, string>;
const as = (token: string | null) => ({ token, headers: { host: "docs.example" } });
const lists = { list, listAll, listFavorites, listTrash, search };
const ask = (name: keyof typeof lists, query: Query = {}, token: string | null = TEST_TOKEN) =>
  call(test.deps, lists[name], { query, ...as(token) });
const titles = async (name: keyof typeof lists, query: Query = {}, token: string | null = TEST_TOKEN) => {
  const { status, body } = await ask(name, query, token);
  expect(status).toBe(200);
  expect(body.count).toBe(body.results.length);
  return body.results.map(({ title }: { title: string }) => title);
};
const on = (
  route: typeof get | typeof remove | typeof restore | typeof favorite | typeof mask,
  id: string,
  token: string | null = TEST_TOKEN,
) => call(test.deps, route as typeof get, { params: { id }, ...as(token) });

/** Creates a document a millisecond after the previous one. */
async function make(title: string | null, parent?: string, token = TEST_TOKEN): Promise<string> {
  test.clock.advance(1);
  const body = { title };
  const made =
    parent === undefined
      ? await call(test.deps, create, { body, ...as(token) })
      : await call(test.deps, createChild, { params: { id: parent }, body, ...as(token) });
  expect(made.status).toBe(201);
  return made.body.id;
}

async function give(document: string, role: Role, token = other): Promise<void> {
  const user = token === TEST_TOKEN ? OWNER_ID : ((await verifyToken(test.deps, token))?.id ?? "");
  const counted = adjustAccessCounts(
    { id: document, parent: null, position_version: 1 },
    1,
    role === "owner" ? 1 : 0,
  );
  const writes = [...planInitialAccess(test.deps, document, user, role), counted];
  expect(await test.deps.tables.write(withChangeRow(test.deps, writes))).toEqual({ ok: true });
}

async function open(id: string, link_reach: LinkReach, link_role: LinkRole = "reader"): Promise<void> {
  const [table, key] = [documentsTable, documentKey(id)];
  const change = { set: { link_reach, link_role } };
  await test.deps.tables.write(withChangeRow(test.deps, [{ op: "update", table, key, change }]));
}

describe("the list", () => {
  it("shows the documents that were shared with the caller, last changed first, and to nobody else", async () => {
    const [first] = [await make("first"), await make("second")];
    test.clock.advance(1);
    await call(test.deps, update, { params: { id: first }, body: { excerpt: "x" }, ...as(TEST_TOKEN) });
    expect(await titles("list")).toEqual(["first", "second"]);
    expect(await titles("list", {}, other)).toEqual([]);
    expect(await ask("list", {}, null)).toEqual({
      status: 200,
      body: { count: 0, next: null, previous: null, results: [] },
    });
    await give(first, "reader");
    expect(await titles("list", {}, other)).toEqual(["first"]);
    expect((await ask("list", {}, other)).body.results).toEqual([(await on(get, first, other)).body]);
  });

  it("shows documents that were opened by their link, as long as their own link permits it", async () => {
    const id = await make("open");
    await open(id, "authenticated");
    expect(await titles("list", {}, other)).toEqual([]);
    expect((await on(get, id, other)).status).toBe(200);
    expect(await titles("list", {}, other)).toEqual(["open"]);
    await open(id, "restricted");
    expect(await titles("list", {}, other)).toEqual([]);
    await open(id, "public");
    expect(await titles("list", {}, other)).toEqual(["open"]);
  });

  it("keeps the highest matching documents of a tree", async () => {
    const root = await make("root");
    const inner = await make("inner", root);
    const leaf = await make("leaf", inner);
    await give(inner, "reader");
    await give(leaf, "owner");
    expect(await titles("list", {}, other)).toEqual(["inner"]);
    expect(await titles("list", { title: "LEAF" }, other)).toEqual(["leaf"]);
    expect(await titles("list", { title: "root" }, other)).toEqual([]);
    expect(await titles("listAll", {}, other)).toEqual(["leaf", "inner"]);
    expect(await titles("listAll")).toEqual(["leaf", "inner", "root"]);
    await give(root, "reader");
    expect(await titles("list", {}, other)).toEqual(["root"]);
    await on(remove, root);
    expect(await titles("list", {}, other)).toEqual([]);
    expect(await titles("listAll")).toEqual([]);
    await on(restore, root);
    expect(await titles("list", {}, other)).toEqual(["root"]);
  });

  it("applies filters, and ignores unknown parameters", async () => {
    const [mine] = [await make("Ångström"), await make("Crème Brûlée")];
    const theirs = await make("Smørrebrød", undefined, other);
    const me = (await on(get, mine)).body.creator;
    await give(theirs, "reader", TEST_TOKEN);
    await on(favorite, mine);
    expect(await titles("list", { title: "angstrom" })).toEqual(["Ångström"]);
    expect(await titles("list", { q: "BRULÉE" })).toEqual(["Crème Brûlée"]);
    expect(await titles("list", { q: "smorre", title: "BRØD" })).toEqual(["Smørrebrød"]);
    expect(await titles("list", { is_creator_me: "TRUE" })).toEqual(["Crème Brûlée", "Ångström"]);
    expect(await titles("list", { is_creator_me: "false" })).toEqual(["Smørrebrød"]);
    expect(await titles("list", { is_favorite: "true" })).toEqual(["Ångström"]);
    expect(await titles("list", { is_favorite: "false", ordering: "title" })).toEqual([
      "Crème Brûlée",
      "Smørrebrød",
    ]);
    expect(await titles("list", { is_favorite: "perhaps", ordering: "is_favorite", nothing: "7" })).toEqual(
      await titles("list"),
    );
    expect((await ask("list")).body.results[0].creator).not.toBe(me);
    expect(await ask("list", { title: "x".repeat(256) })).toEqual({
      status: 400,
      body: { title: ["Ensure this field has no more than 255 characters."] },
    });
  });

  it.each([
    ["created_at", ["b", "C", "ä", null]],
    ["-created_at", [null, "ä", "C", "b"]],
    ["title", ["ä", "b", "C", null]],
    ["-title", [null, "C", "b", "ä"]],
    ["updated_at", ["C", "ä", null, "b"]],
    ["-updated_at", ["b", null, "ä", "C"]],
  ])("is in the order of %s", async (ordering, expected) => {
    const first = await make("b");
    for (const title of ["C", "ä", null]) await make(title);
    test.clock.advance(1);
    await call(test.deps, update, { params: { id: first }, body: { excerpt: "x" }, ...as(TEST_TOKEN) });
    expect(await titles("list", { ordering })).toEqual(expected);
  });

  it("is paginated with exact counts and links", async () => {
    for (let number = 0; number < 25; number += 1) await make(`${number}`);
    const { body } = await ask("list", { page: "2", is_creator_me: "true" });
    expect(body).toMatchObject({ count: 25, next: null });
    expect(body.results.map(({ title }: { title: string }) => title)).toEqual(["4", "3", "2", "1", "0"]);
    expect(body.previous).toBe("http://docs.example/api/v1.0/documents?is_creator_me=true");
    expect(await ask("list", { page: "3" })).toEqual({ status: 404, body: { detail: "Invalid page." } });
  });
});

describe("favorites", () => {
  it("are added once, sorted by the documents' last change, and disappear with the right to read", async () => {
    const ids = [await make("one"), await make("two")];
    for (const id of ids) await give(id, "reader");
    const [one = "", two = ""] = ids;
    expect(await on(favorite, one, other)).toEqual({
      status: 201,
      body: { detail: "Document marked as favorite" },
    });
    expect(await on(favorite, one, other)).toEqual({
      status: 200,
      body: { detail: "Document already marked as favorite" },
    });
    await on(favorite, two, other);
    expect(await titles("listFavorites", {}, other)).toEqual(["two", "one"]);
    expect((await ask("listFavorites", {}, other)).body.results[0].is_favorite).toBe(true);
    expect(await titles("listFavorites")).toEqual([]);
    expect((await ask("listFavorites", {}, null)).status).toBe(401);
    expect(await on(unfavorite, two, other)).toEqual({ status: 204, body: undefined });
    expect(await on(unfavorite, two, other)).toEqual({
      status: 200,
      body: { detail: "Document was already not marked as favorite" },
    });
    expect(await on(leave, one, other)).toEqual({ status: 204, body: undefined });
    expect(await titles("listFavorites", {}, other)).toEqual([]);
    expect(await on(favorite, one, other)).toEqual({ status: 403, body: NO_RIGHT });
    expect([(await on(favorite, one, null)).status, (await on(favorite, NOWHERE)).status]).toEqual([
      401, 404,
    ]);
  });
});

describe("a masked document", () => {
  it("was opened before, and can be excluded by a filter", async () => {
    const id = await make("masked");
    const set = (route: typeof mask | typeof unmask) => on(route, id);
    expect(await set(mask)).toEqual({
      status: 400,
      body: { detail: "User never accessed this document before." },
    });
    await on(get, id);
    expect(await set(mask)).toEqual({ status: 201, body: { detail: "Document was masked" } });
    expect(await set(mask)).toEqual({ status: 200, body: { detail: "Document was already masked" } });
    expect(await titles("list")).toEqual(["masked"]);
    expect(await titles("list", { is_masked: "false" })).toEqual([]);
    expect(await titles("list", { is_masked: "true" })).toEqual(["masked"]);
    expect(await set(unmask)).toEqual({ status: 204, body: undefined });
    expect(await set(unmask)).toEqual({ status: 200, body: { detail: "Document was already not masked" } });
  });
});

describe("leaving", () => {
  it("removes accesses on a document and its descendants, not on its ancestors, and keeps records of managers", async () => {
    const root = await make("root");
    const inner = await make("inner", root);
    const leaf = await make("leaf", inner);
    for (const id of [root, inner, leaf]) await give(id, "editor");
    expect((await on(leave, inner, other)).status).toBe(204);
    expect(await titles("list", {}, other)).toEqual(["root"]);
    await test.drain();
    const { records } = await readLog(test.deps, { topic: "documents.shared" });
    const left = records.map(({ data }) => JSON.parse(data ?? "") as Record<string, unknown>);
    expect(left.map(({ document_id, change, role }) => [document_id, change, role]).toSorted()).toEqual(
      [inner, leaf].map((id) => [id, "taken", "editor"]).toSorted(),
    );
    expect(left.every(({ user_id, shared_with }) => user_id === shared_with)).toBe(true);
    expect((await on(leave, root, other)).status).toBe(204);
    expect(await titles("list", {}, other)).toEqual([]);
    expect((await on(get, leaf, other)).status).toBe(403);
    expect(await on(leave, root, other)).toEqual({ status: 403, body: NO_RIGHT });
    expect(await on(leave, root)).toEqual({ status: 403, body: NO_RIGHT });
    expect((await on(leave, root, null)).status).toBe(401);
    expect((await on(get, leaf)).body).toMatchObject({ nb_accesses_direct: 0, nb_accesses_ancestors: 1 });
    await open(root, "public");
    await on(get, root, other);
    expect((await on(leave, root, other)).status).toBe(204);
    expect(await titles("list", {}, other)).toEqual([]);
  });
});

describe("the list of the trash", () => {
  it("shows owners what was itself deleted, last deleted first, as long as it can be restored", async () => {
    const root = await make("root");
    const inner = await make("inner", root);
    await make("leaf", inner);
    const beside = await make("beside");
    await give(root, "administrator");
    expect(await titles("listTrash")).toEqual([]);
    await on(remove, inner);
    test.clock.advance(1_000);
    await on(remove, beside);
    test.clock.advance(DAY_MS);
    await on(remove, root);
    expect(await titles("listTrash")).toEqual(["root", "beside", "inner"]);
    expect(await titles("listTrash", { ordering: "deleted_at" })).toEqual(["inner", "beside", "root"]);
    expect([await titles("listTrash", {}, other), await titles("listTrash", {}, null)]).toEqual([[], []]);
    expect((await ask("listTrash")).body.results[0]).toMatchObject({ deleted_at: expect.any(String) });
    test.clock.advance(29 * DAY_MS);
    expect(await titles("listTrash")).toEqual(["root", "beside"]);
    test.clock.advance(1);
    expect(await titles("listTrash")).toEqual(["root"]);
    await on(restore, root);
    expect(await titles("listTrash")).toEqual([]);
  });
});

describe("the search", () => {
  it("finds titles in all readable documents, best first, with their ancestors", async () => {
    const root = await make("Übersicht");
    const found = [];
    for (const title of ["A Café here", "Subcafé", "cafe", "Cafés of Rome"])
      found.push(await make(title, root));
    await make("cafe elsewhere", undefined, other);
    expect(await titles("search", { q: " CAFE " })).toEqual([
      "cafe",
      "Cafés of Rome",
      "A Café here",
      "Subcafé",
    ]);
    expect(await titles("search", { q: "cafe", title: "rome" })).toEqual(["Cafés of Rome"]);
    expect(await titles("search", { q: "cafe", ordering: "created_at" })).toEqual([
      "A Café here",
      "Subcafé",
      "cafe",
      "Cafés of Rome",
    ]);
    expect((await ask("search", { q: "" })).body.count).toBe(5);
    const { body } = await ask("search", { q: "rome" });
    expect(body.results[0].parent).toEqual((await on(get, root)).body);
    expect((await ask("search", { q: "ubers" })).body.results[0].parent).toBeNull();
    expect(await titles("search", { q: "cafe" }, null)).toEqual([]);
    await give(found[0] ?? "", "reader");
    expect(await titles("search", { q: "cafe" }, other)).toEqual(["cafe elsewhere", "A Café here"]);
    expect((await ask("search", { q: "here" }, other)).body.results[0].parent).toBeNull();
  });

  it("can be limited to a document and its descendants, in tree order", async () => {
    const root = await make("note root");
    const [first, second] = [await make("note 1", root), await make("note 2", root)];
    await make("note 1.1", first);
    await make("other", second);
    await make("note elsewhere");
    const { path } = (await on(get, root)).body;
    const all = ["note root", "note 1", "note 1.1", "note 2"];
    expect(await titles("search", { q: "note", document: root })).toEqual(all);
    expect(await titles("search", { q: "note", path })).toEqual(all);
    expect(await titles("search", { q: "NOTE", document: first })).toEqual(["note 1", "note 1.1"]);
    await on(remove, first);
    expect(await titles("search", { q: "note", document: root })).toEqual(["note root", "note 2"]);
    await open(root, "public");
    expect(await titles("search", { q: "note", document: second }, null)).toEqual(["note 2"]);
  });

  it("reports invalid parameters", async () => {
    const id = await make("closed");
    const { path } = (await on(get, id)).body;
    const no = "You do not have permission to search within this document.";
    expect(await ask("search")).toEqual({ status: 400, body: { q: ["This field is required."] } });
    expect(await ask("search", { q: "x", document: "x" })).toEqual({
      status: 400,
      body: { document: ["Must be a valid UUID."] },
    });
    expect(await ask("search", { q: "x", document: NOWHERE })).toEqual({
      status: 404,
      body: { detail: "Document not found." },
    });
    for (const wrong of ["nothing", `${path}${path}`, "\ud800"])
      expect(await ask("search", { q: "x", path: wrong })).toEqual({
        status: 404,
        body: { detail: "Document not found from path." },
      });
    expect(await ask("search", { q: "x", path }, other)).toEqual({ status: 403, body: { detail: no } });
    expect((await ask("search", { q: "x", document: id }, null)).status).toBe(403);
    await on(remove, id);
    expect(await ask("search", { q: "x", document: id })).toEqual({ status: 403, body: { detail: no } });
    expect((await ask("search", { q: "x", document: id }, other)).status).toBe(404);
  });
});

it("leaving removes favorites, unless an ancestor still grants access", async () => {
  const root = await make("root");
  const inner = await make("inner", root);
  for (const id of [root, inner]) {
    await give(id, "reader");
    await on(favorite, id, other);
  }
  expect((await on(leave, inner, other)).status).toBe(204);
  expect((await titles("listFavorites", {}, other)).toSorted()).toEqual(["inner", "root"]);
  expect((await on(leave, root, other)).status).toBe(204);
  await give(root, "reader");
  expect(await titles("listFavorites", {}, other)).toEqual([]);
  expect((await on(get, inner, other)).body.is_favorite).toBe(false);
});

it("leaving removes accesses of more documents than fit into one transaction, with an event for each", async () => {
  const root = await make("root");
  const below = await Promise.all(Array.from({ length: 24 }, (_, number) => make(`${number}`, root)));
  for (const id of [root, ...below]) await give(id, "reader");
  expect((await on(leave, root, other)).status).toBe(204);
  expect(await titles("listAll", {}, other)).toEqual([]);
  await test.drain();
  expect((await readLog(test.deps, { topic: "documents.shared" })).total).toBe(25);
});

it("the list of all documents returns 404 if the setting disables it", async () => {
  await test.close();
  test = await testDeps({ settings: { DOCUMENT_ALL_ENDPOINT_ENABLED: "false" } });
  expect(await ask("listAll")).toEqual({ status: 404, body: { detail: "Not found." } });
});
