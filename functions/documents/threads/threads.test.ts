import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { documentKey, documentsTable } from "#lib/documents/tables/documents.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { route as createDocument } from "../documents/create.ts";
import { route as addReaction } from "./add-reaction.ts";
import { route as create } from "./create.ts";
import { route as createComment } from "./create-comment.ts";
import { route as remove } from "./delete.ts";
import { route as deleteComment } from "./delete-comment.ts";
import { route as get } from "./get.ts";
import { route as getComment } from "./get-comment.ts";
import { route as list } from "./list.ts";
import { route as listComments } from "./list-comments.ts";
import { route as removeReaction } from "./remove-reaction.ts";
import { route as replaceComment } from "./replace-comment.ts";
import { route as resolve } from "./resolve.ts";
import { route as unresolve } from "./unresolve.ts";
import { route as updateComment } from "./update-comment.ts";

const NOWHERE = "11111111-1111-4111-8111-111111111111";
const TEXT = [{ type: "paragraph", content: "Why?" }];

let test: TestDeps;
let id: string;
/** A user who may comment only through the link. */
let guest: string;
beforeEach(async () => {
  test = await testDeps();
  guest = (await createToken(test.deps, { email: "ann.lee@example.com" })).token;
  id = (await call(test.deps, createDocument, { body: { title: "Plan" } })).body.id;
  await linked("public", "commenter");
});
afterEach(() => test.close());

const linked = (link_reach: string, link_role: string, document = id) =>
  test.deps.tables.update(documentsTable, documentKey(document), { set: { link_reach, link_role } });

type Token = string | null;
const ask = (route: unknown, params: object, body?: unknown, token: Token = TEST_TOKEN) =>
  call(test.deps, route as typeof create, {
    params: { id, ...params },
    ...(body === undefined ? {} : { body }),
    token,
    headers: { host: "docs.example" },
  });
const begin = async (token: Token = TEST_TOKEN, body: unknown = TEXT) =>
  (await ask(create, {}, { body }, token)).body;
const addTo = (thread: string, body: unknown, token: Token = TEST_TOKEN) =>
  ask(createComment, { thread }, { body }, token);
/** A thread's first comment, as parameters. */
const firstOf = ({ id: thread, comments }: { id: string; comments: { id: string }[] }) => ({
  thread,
  comment: comments[0]?.id ?? "",
});

describe("a thread", () => {
  it("is created with a comment, and returns all its fields", async () => {
    const { status, body } = await ask(create, {}, { body: TEXT }, guest);
    expect(status).toBe(201);
    const ann = { full_name: "ann-lee", short_name: "ann-lee" };
    const at = new Date(test.clock.now()).toISOString();
    const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
    const own = { destroy: true, update: true, partial_update: true, retrieve: true };
    expect(body).toEqual({
      id: uuid,
      created_at: at,
      updated_at: at,
      creator: ann,
      metadata: {},
      resolved: false,
      resolved_at: null,
      resolved_by: null,
      abilities: { ...own, resolve: true, unresolve: true },
      comments: [
        {
          id: uuid,
          user: ann,
          body: TEXT,
          created_at: at,
          updated_at: at,
          reactions: [],
          abilities: { ...own, reactions: true },
        },
      ],
    });
    expect((await ask(get, { thread: body.id }, undefined, guest)).body).toEqual(body);
  });

  it("is listed with the others, newest first, including resolved ones", async () => {
    const ids = [];
    for (let number = 0; number < 3; number += 1) {
      ids.unshift((await begin(number === 1 ? guest : TEST_TOKEN, `${number}`)).id);
      test.clock.advance(1_000);
    }
    await addTo(ids[2] ?? "", "later", guest);
    await ask(resolve, { thread: ids[1] ?? "" });
    const { body } = await ask(list, {});
    expect(body.map((thread: { id: string }) => thread.id)).toEqual(ids);
    expect(body[2].comments.map((comment: { body: string }) => comment.body)).toEqual(["0", "later"]);
    expect(body.map(({ resolved }: { resolved: boolean }) => resolved)).toEqual([false, true, false]);
    expect((await ask(list, {}, undefined, null)).body[0].abilities).toMatchObject({ destroy: false });
  });

  it("of an anonymous user has no creator, and is deleted by managers only", async () => {
    const thread = await begin(null);
    expect(thread).toMatchObject({
      creator: null,
      comments: [{ user: null }],
      abilities: { destroy: false },
    });
    const { comment } = firstOf(thread);
    for (const token of [null, guest]) {
      const status = token === null ? 401 : 403;
      for (const route of [resolve, unresolve, remove])
        expect((await ask(route, { thread: thread.id }, undefined, token)).status).toBe(status);
      const path = { thread: thread.id, comment };
      expect((await ask(updateComment, path, { body: "x" }, token)).status).toBe(status);
      expect((await ask(deleteComment, path, undefined, token)).status).toBe(status);
    }
    expect((await ask(updateComment, { thread: thread.id, comment }, { body: "x" })).status).toBe(403);
    expect((await ask(remove, { thread: thread.id })).status).toBe(204);
  });

  it("can be resolved and reopened repeatedly", async () => {
    const { id: thread } = await begin();
    test.clock.advance(1_000);
    for (const _time of ["first", "again"])
      expect(await ask(resolve, { thread })).toMatchObject({ status: 204 });
    const { body } = await ask(get, { thread });
    const at = new Date(test.clock.now()).toISOString();
    expect(body).toMatchObject({ resolved: true, resolved_at: at, updated_at: at });
    expect(body.resolved_by).toMatch(/^[0-9a-f-]{36}$/);
    for (const _time of ["first", "again"]) expect((await ask(unresolve, { thread })).status).toBe(204);
    expect((await ask(get, { thread })).body).toMatchObject({
      resolved: false,
      resolved_at: null,
      resolved_by: null,
    });
  });

  it("is deleted with all its comments, and frees its quota", async () => {
    const { id: thread } = await begin();
    const other = await begin();
    for (let number = 0; number < 120; number += 1) await addTo(thread, number);
    expect((await ask(remove, { thread })).status).toBe(204);
    expect((await ask(get, { thread })).status).toBe(404);
    expect((await addTo(thread, "late")).status).toBe(404);
    expect((await ask(list, {})).body).toEqual([other]);
    expect(await rows("document-comments")).toBe(1);
    await ask(remove, { thread: other.id });
    expect(await room()).toEqual({ threads: 0, bytes: 0 });
  });
});

const table = (name: string) => ({ name, indexes: {} });
const rows = async (name: string) => (await test.deps.tables.query(table(name), { pk: id })).items.length;
async function room() {
  const found = await test.deps.tables.get(table("document-threads"), { pk: `${id}/room`, sk: "room" });
  const { threads, bytes } = found as unknown as { threads: number; bytes: number };
  return { threads, bytes };
}

describe("comments", () => {
  it("are paginated, oldest first", async () => {
    const thread = (await begin()).id;
    for (const number of [1, 2, 3, 4]) await addTo(thread, number);
    const { body } = await call(test.deps, listComments, {
      params: { id, thread },
      query: { page: "2", page_size: "2" },
      headers: { host: "docs.example" },
    });
    expect(body.results.map((comment: { body: unknown }) => comment.body)).toEqual([2, 3]);
    const address = `http://docs.example/api/v1.0/documents/${id}/threads/${thread}/comments`;
    expect([body.count, body.next]).toEqual([5, `${address}?page=3&page_size=2`]);
  });

  it("are changed by their author only, and deleted by managers too", async () => {
    const path = firstOf(await begin(guest));
    expect((await ask(updateComment, path, { body: "not mine" })).status).toBe(403);
    test.clock.advance(1_000);
    const { status, body } = await ask(replaceComment, path, { body: { deep: [1] } }, guest);
    expect([status, body.body, body.updated_at > body.created_at]).toEqual([200, { deep: [1] }, true]);
    test.clock.advance(1_000);
    expect((await ask(updateComment, path, {}, guest)).body).toEqual(body);
    expect((await ask(getComment, path)).body).toEqual({
      ...body,
      abilities: { destroy: true, update: false, partial_update: false, reactions: true, retrieve: true },
    });
    expect((await ask(deleteComment, path)).status).toBe(204);
    expect((await ask(getComment, path, undefined, guest)).body).toEqual({
      detail: "No Comment matches the given query.",
    });
    expect((await ask(get, { thread: path.thread })).body.comments).toEqual([]);
  });

  const deep = (levels: number): unknown => (levels === 0 ? "x" : [deep(levels - 1)]);
  it.each([
    [{}, "This field is required."],
    [{ body: null }, "This field may not be null."],
    [{ body: "x".repeat(64 * 1024) }, "Ensure this value has no more than 65536 bytes."],
    [{ body: "é".repeat(33_000) }, "Ensure this value has no more than 65536 bytes."],
    [{ body: deep(51) }, "Ensure this value is nested at most 50 deep."],
  ])("that are none are refused by field, %#", async (body, message) => {
    const refused = { status: 400, body: { body: [message] } };
    expect(await ask(create, {}, body)).toEqual(refused);
    const path = firstOf(await begin());
    expect(await ask(createComment, path, body)).toEqual(refused);
    expect(await ask(replaceComment, path, body)).toEqual(refused);
    if ("body" in body) expect(await ask(updateComment, path, body)).toEqual(refused);
    expect(await rows("document-comments")).toBe(1);
  });

  it.each([0, "", false, deep(50), { __proto__: null, constructor: { prototype: 1 }, "": "\u0000\ud800" }])(
    "may be any other JSON: %j",
    async (body) => {
      const thread = await begin(guest, body);
      expect(JSON.stringify(thread.comments[0].body)).toBe(JSON.stringify(body));
    },
  );

  it("of another thread or document are not found by their ids", async () => {
    const path = firstOf(await begin());
    const elsewhere = (await begin()).id;
    const other = (await call(test.deps, createDocument, { body: {} })).body.id;
    for (const at of [
      { ...path, thread: elsewhere },
      { ...path, id: other },
      { ...path, comment: NOWHERE },
    ])
      for (const [route, body] of [
        ...([[getComment], [deleteComment]] as const),
        ...([
          [updateComment, { body: 1 }],
          [addReaction, { emoji: "👍" }],
        ] as const),
      ])
        expect((await ask(route, at, body)).status).toBe(404);
    for (const at of [{ thread: NOWHERE }, { thread: path.thread, id: other }, { thread: "nonsense" }])
      for (const route of [get, resolve, remove, listComments])
        expect((await ask(route, at)).status).toBe(404);
    expect((await ask(getComment, path)).status).toBe(200);
    const upper = { thread: path.thread.toUpperCase(), comment: path.comment.toUpperCase() };
    expect((await ask(getComment, upper)).status).toBe(200);
  });
});

describe("reactions", () => {
  const react = (path: object, emoji: unknown, token: Token = TEST_TOKEN) =>
    ask(addReaction, path, { emoji }, token);

  it("are grouped by emoji, with all users of each", async () => {
    const path = firstOf(await begin());
    expect(await react(path, "👍", guest)).toEqual({ status: 201, body: undefined });
    await react(path, "👍");
    await react(path, "❤");
    const reactions = (await ask(getComment, path)).body.reactions;
    expect(reactions).toMatchObject([
      { emoji: "👍", users: [{ full_name: "ann-lee" }, { full_name: "owner" }] },
      { emoji: "❤️", users: [{ full_name: "owner" }] },
    ]);
    expect(await react(path, "👍", guest)).toEqual({ status: 400, body: { user_already_reacted: true } });
    expect(await ask(removeReaction, path, { emoji: "❤️" }, guest)).toEqual({
      status: 404,
      body: { detail: "Reaction not found." },
    });
    for (const token of [guest, TEST_TOKEN])
      expect((await ask(removeReaction, path, { emoji: "👍" }, token)).status).toBe(204);
    expect((await ask(getComment, path)).body.reactions).toMatchObject([{ emoji: "❤️" }]);
    const { bytes } = await room();
    await ask(deleteComment, path);
    await ask(remove, path);
    expect([bytes > 0, await room()]).toEqual([true, { threads: 0, bytes: 0 }]);
  });

  it.each(["", "a", "1", "👍👍", "👍 ", "<b>", "👍".repeat(50), " "])(
    "that are no emoji are refused: %j",
    async (emoji) => {
      const path = firstOf(await begin());
      expect(await react(path, emoji)).toEqual({
        status: 400,
        body: { emoji: ["Reaction must be a single valid emoji."] },
      });
    },
  );

  it.each(["👩‍👩‍👧‍👦", "🏳️‍🌈", "1️⃣", "🇫🇷", "👍🏽"])("may be any emoji: %s", async (emoji) => {
    expect((await react(firstOf(await begin()), emoji)).status).toBe(201);
  });

  it("are limited to 15 different ones per comment; more users may join those", async () => {
    const path = firstOf(await begin());
    const emojis = Array.from({ length: 16 }, (_, at) => String.fromCodePoint(0x1f600 + at));
    const answers = [];
    for (const emoji of emojis) answers.push(await react(path, emoji));
    expect(answers.map(({ status }) => status)).toEqual([...Array<number>(15).fill(201), 400]);
    expect(answers[15]?.body).toEqual({ emoji: ["A comment can have a maximum of 15 distinct reactions."] });
    expect((await react(path, emojis[0], guest)).status).toBe(201);
  });

  it("require authentication", async () => {
    const path = firstOf(await begin());
    expect((await react(path, "👍", null)).status).toBe(401);
    expect((await ask(removeReaction, path, { emoji: "👍" }, null)).status).toBe(401);
  });

  it("are all kept if they are concurrent", async () => {
    const path = firstOf(await begin());
    const tokens = await Promise.all(
      Array.from(
        { length: 12 },
        async (_, at) => (await createToken(test.deps, { email: `p${at}@example.com` })).token,
      ),
    );
    const answers = await Promise.all(
      tokens.map((token, at) => react(path, at % 2 === 0 ? "👍" : "🎉", token)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(201));
    const { reactions } = (await ask(getComment, path)).body;
    expect(reactions.map(({ users }: { users: unknown[] }) => users.length)).toEqual([6, 6]);
  });
});

describe("concurrent changes", () => {
  it("are all kept, and a thread's size equals that of its comments", async () => {
    const { id: thread } = await begin();
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, (_, at) => addTo(thread, at, at % 2 === 0 ? guest : null)),
      ...Array.from({ length: 5 }, () => ask(create, {}, { body: "more" })),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(Array(15).fill(201));
    const { body } = await ask(list, {});
    expect(body.map(({ comments }: { comments: unknown[] }) => comments.length).toSorted()).toEqual([
      1, 1, 1, 1, 1, 11,
    ]);
    await Promise.all(body.map((one: { id: string }) => ask(remove, { thread: one.id })));
    expect(await room()).toEqual({ threads: 0, bytes: 0 });
  });

  it("with a thread's deletion leave no orphaned comment", async () => {
    const { id: thread } = await begin();
    const [removed, ...added] = await Promise.all([
      ask(remove, { thread }),
      ...Array.from({ length: 8 }, (_, at) => addTo(thread, at)),
    ]);
    expect(removed.status).toBe(204);
    expect(added.every(({ status }) => status === 201 || status === 404)).toBe(true);
    expect([await rows("document-comments"), await room()]).toEqual([0, { threads: 0, bytes: 0 }]);
  });
});

describe("the quota", () => {
  it("is a thousand threads; beyond it, an error states the limit", async () => {
    await begin();
    const key = { pk: `${id}/room`, sk: "room" };
    await test.deps.tables.update(table("document-threads"), key, { set: { threads: 999 } });
    expect((await ask(create, {}, { body: 1 })).status).toBe(201);
    expect(await ask(create, {}, { body: 1 })).toEqual({
      status: 400,
      body: { detail: "The document has reached its limit of 1000 threads; delete some first." },
    });
  });

  it("is exhausted when one response could not contain all comments", async () => {
    const path = firstOf(await begin());
    const key = { pk: `${id}/room`, sk: "room" };
    await test.deps.tables.update(table("document-threads"), key, { set: { bytes: 4_999_000 } });
    const full = { detail: "The document has no space for more comments; delete some first." };
    expect(await addTo(path.thread, "x".repeat(1_000))).toEqual({ status: 400, body: full });
    expect(await ask(updateComment, path, { body: "x".repeat(2_000) })).toEqual({ status: 400, body: full });
    expect((await addTo(path.thread, "x")).status).toBe(201);
  });
});

it("each comment is recorded in the log", async () => {
  const thread = await begin(guest);
  const { body: comment } = await addTo(thread.id, "more", null);
  const { records } = await readLog(test.deps);
  const told = records
    .filter(({ topic }) => topic === "documents.commented")
    .map(({ data }) => JSON.parse(data ?? ""));
  const of = { document_id: id, title: "Plan", parent_id: null, thread_id: thread.id };
  expect(told).toEqual([
    { ...of, user_id: null, comment_id: comment.id },
    { ...of, user_id: expect.any(String), comment_id: thread.comments[0].id },
  ]);
});
