import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToken } from "#lib/documents/users/tokens.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { route as create } from "./create.ts";
import { route as createChild } from "./create-child.ts";
import { route as remove } from "./delete.ts";
import { route as get } from "./get.ts";
import { route as listChildren } from "./list-children.ts";
import { route as restore } from "./restore.ts";
import { route as update } from "./update.ts";

const NOWHERE = "11111111-1111-4111-8111-111111111111";
const DAY_MS = 24 * 60 * 60 * 1000;

let test: TestDeps;
let other: string;
beforeEach(async () => {
  test = await testDeps();
  other = (await createToken(test.deps, { email: "other@example.com" })).token;
});
afterEach(() => test.close());

type Who = string | null;
const as = (token: Who) => ({ token, headers: { host: "docs.example" } });
const make = async (body: object = {}, token: Who = TEST_TOKEN) =>
  call(test.deps, create, { body, ...as(token) });
const child = (id: string, body: object = {}, token: Who = TEST_TOKEN) =>
  call(test.deps, createChild, { params: { id }, body, ...as(token) });
const read = (id: string, token: Who = TEST_TOKEN) => call(test.deps, get, { params: { id }, ...as(token) });
const drop = (id: string, token: Who = TEST_TOKEN) =>
  call(test.deps, remove, { params: { id }, ...as(token) });
const undo = (id: string, token: Who = TEST_TOKEN) =>
  call(test.deps, restore, { params: { id }, ...as(token) });
const children = (id: string, query: Record<string, string> = {}, token: Who = TEST_TOKEN) =>
  call(test.deps, listChildren, { params: { id }, query, ...as(token) });

describe("a new document", () => {
  it("belongs to its creator, and returns all its fields", async () => {
    const { status, body } = await make({ title: "Notes" });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      title: "Notes",
      depth: 1,
      numchild: 0,
      user_role: "owner",
      link_reach: "restricted",
      link_role: "reader",
      nb_accesses_direct: 1,
      nb_accesses_ancestors: 1,
      is_favorite: false,
      ancestors_link_reach: null,
      computed_link_reach: "restricted",
      computed_link_role: null,
      deleted_at: null,
      excerpt: null,
      path: expect.stringMatching(/^[0-9A-Z]{7}$/),
      abilities: { destroy: true, children_create: true, versions_list: true },
    });
    expect(Object.keys(body)).toHaveLength(21);
    expect(body).not.toHaveProperty("content");
    expect((await read(body.id)).body).toEqual(body);
  });

  it.each([
    [{ title: "t".repeat(256) }, { title: ["Ensure this field has no more than 255 characters."] }],
    [{ title: 7 }, { title: ["Not a valid string."] }],
    [{ id: "no" }, { id: ["The provided ID is not a valid UUID."] }],
    [{ id: "11111111-1111-7111-8111-111111111111" }, { id: ["The provided ID is not a valid UUID."] }],
  ])("of %j is refused by field", async (body, said) => {
    expect(await make(body)).toEqual({ status: 400, body: said });
  });

  it("may have a chosen id, once, also for concurrent requests", async () => {
    const id = "22222222-2222-4222-8222-222222222222";
    const both = await Promise.all([make({ id }), make({ id })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 400]);
    expect((await make({ id })).body).toEqual({
      id: ["A document with this ID already exists. You cannot override it."],
    });
  });

  it("requires authentication", async () => {
    expect(await make({}, null)).toEqual({
      status: 401,
      body: { detail: "Authentication credentials were not provided." },
    });
  });
});

describe("access to a document", () => {
  it("without permission returns 404 if it does not exist, 401 for anonymous callers, 403 otherwise", async () => {
    const { body } = await make();
    expect((await read(NOWHERE)).status).toBe(404);
    expect((await read("nonsense")).body).toEqual({ detail: "Not found." });
    expect(await read(body.id, null)).toMatchObject({ status: 401 });
    expect(await read(body.id, other)).toEqual({
      status: 403,
      body: { detail: "You do not have permission to perform this action." },
    });
  });
});

describe("a change", () => {
  const patch = (id: string, body: object, token: Who = TEST_TOKEN) =>
    call(test.deps, update, { params: { id }, body, ...as(token) });

  it("keeps missing fields, and saves nothing for an empty body", async () => {
    const { body } = await make({ title: "Before", excerpt: "short" });
    test.clock.advance(1_000);
    expect((await patch(body.id, {})).body.updated_at).toBe(body.updated_at);
    const { body: after } = await patch(body.id, { title: "After" });
    expect(after).toMatchObject({ title: "After", excerpt: "short" });
    expect(after.updated_at > body.updated_at).toBe(true);
    expect((await read(body.id)).body).toEqual(after);
    expect((await patch(body.id, { title: "x" }, other)).status).toBe(403);
  });
});

describe("children", () => {
  it("inherit permissions, are ordered, and are paginated with links", async () => {
    const { body: root } = await make({ title: "root" });
    const made = [];
    for (let number = 0; number < 5; number += 1)
      made.push((await child(root.id, { title: `${number}` })).body);
    expect(made[0]).toMatchObject({
      depth: 2,
      user_role: "owner",
      nb_accesses_direct: 0,
      nb_accesses_ancestors: 1,
    });
    expect(made[0].path.startsWith(root.path)).toBe(true);
    const { body: page } = await children(root.id, { page: "2", page_size: "2" });
    expect(page.results.map(({ title }: { title: string }) => title)).toEqual(["2", "3"]);
    expect([page.count, page.results.length]).toEqual([5, 2]);
    expect(page.next).toBe(`http://docs.example/api/v1.0/documents/${root.id}/children?page=3&page_size=2`);
    expect(page.previous).toBe(`http://docs.example/api/v1.0/documents/${root.id}/children?page_size=2`);
    expect(await children(root.id, { page: "4", page_size: "2" })).toEqual({
      status: 404,
      body: { detail: "Invalid page." },
    });
    expect((await children(root.id, { page: "x" })).status).toBe(404);
    expect((await children(root.id, {}, other)).status).toBe(403);
    expect((await child(root.id, {}, other)).status).toBe(403);
  });
});

describe("the trash", () => {
  it("contains a document with its descendants, which only its owner can read and restore", async () => {
    const { body: root } = await make();
    const { body: leaf } = await child(root.id);
    expect((await undo(root.id)).body).toEqual({ detail: "This document is not deleted." });
    expect((await drop(root.id, other)).status).toBe(403);
    expect(await drop(root.id)).toEqual({ status: 204, body: undefined });
    expect((await read(leaf.id)).body).toMatchObject({ deleted_at: expect.any(String) });
    expect([(await read(leaf.id, other)).status, (await read(leaf.id, null)).status]).toEqual([404, 404]);
    expect((await child(root.id)).status).toBe(403);
    expect((await drop(root.id)).status).toBe(403);
    expect((await undo(leaf.id)).status).toBe(400);
    expect((await undo(root.id, other)).status).toBe(404);
    expect((await undo(root.id)).body).toEqual({ detail: "Document has been successfully restored." });
    expect((await read(leaf.id, other)).status).toBe(403);
    expect((await children(root.id)).body.count).toBe(1);
  });

  it("expires after TRASHBIN_CUTOFF_DAYS", async () => {
    const { body } = await make();
    await drop(body.id);
    test.clock.advance(30 * DAY_MS);
    expect((await read(body.id)).status).toBe(200);
    test.clock.advance(1);
    expect((await undo(body.id)).status).toBe(404);
  });
});

it("each change is recorded in the log", async () => {
  const { body } = await make({ title: "told" });
  await drop(body.id);
  await undo(body.id);
  const { records } = await readLog(test.deps);
  expect(records.map(({ topic, source }) => `${topic} ${source}`).toReversed()).toEqual([
    "documents.created documents",
    "documents.deleted documents",
    "documents.restored documents",
  ]);
  expect(JSON.parse(records[0]?.data ?? "")).toMatchObject({ document_id: body.id, title: "told" });
});
