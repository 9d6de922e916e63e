import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NOTIFICATIONS_MAX, RUN_NOTIFICATIONS_MAX } from "#lib/documents/notifications/store.ts";
import { notificationKey, notificationsTable } from "#lib/documents/tables/notifications.ts";
import { userKey, usersTable } from "#lib/documents/tables/users.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { OWNER_ID } from "#lib/documents/users/users.ts";
import { recordedEntry } from "#lib/events/publish.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { grantRole, type TestUser } from "#lib/testing/test-documents.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { route as share } from "../accesses/create.ts";
import { route as revoke } from "../accesses/delete.ts";
import { route as listAccesses } from "../accesses/list.ts";
import { route as ask } from "../ask-for-access/create.ts";
import { route as setLink } from "../documents/configure-link.ts";
import { route as createDocument } from "../documents/create.ts";
import { route as deleteDocument } from "../documents/delete.ts";
import { route as rename } from "../documents/update.ts";
import { route as createThread } from "../threads/create.ts";
import { route as createComment } from "../threads/create-comment.ts";
import { route as deleteComment } from "../threads/delete-comment.ts";
import { route as updateComment } from "../threads/update-comment.ts";
import { route as getSettings } from "../users/get-notification-settings.ts";
import { route as setSettings } from "../users/update-notification-settings.ts";
import { route as list } from "./list.ts";
import { route as markRead } from "./read.ts";
import { route as markAllRead } from "./read-all.ts";

const DAY_MS = 24 * 3_600_000;
const NOWHERE = "11111111-1111-4111-8111-111111111111";

let test: TestDeps;
let id: string;
let ada: TestUser;
let ben: TestUser;
beforeEach(async () => {
  test = await testDeps();
  id = (await call(test.deps, createDocument, { body: { title: "Plan" } })).body.id;
  ada = await addUser("ada", "Ada Lovelace");
  ben = await addUser("ben", "Ben");
  await grantRole(test.deps, id, ada.id, "commenter");
  await grantRole(test.deps, id, ben.id, "commenter");
});
afterEach(() => test.close());

async function addUser(name: string, full: string): Promise<TestUser> {
  const { token, record } = await createToken(test.deps, { email: `${name}@example.com`, name: full });
  return { id: record.user, token };
}
const notifications = async (token: string = TEST_TOKEN, query: Record<string, string> = {}) =>
  (await call(test.deps, list, { token, query })).body;
/** Kind and excerpt of each, after all events were handled. */
const kinds = async (token?: string) => {
  await test.drain();
  const { results } = await notifications(token);
  return results.map(({ kind, excerpt }: Record<string, string>) => [kind, excerpt]);
};
const thread = async (body: unknown, token: string = TEST_TOKEN): Promise<string> =>
  (await call(test.deps, createThread, { params: { id }, body: { body }, token })).body.id;
const comment = async (of: string, body: unknown, token: string = TEST_TOKEN): Promise<string> =>
  (await call(test.deps, createComment, { params: { id, thread: of }, body: { body }, token })).body.id;
const mention = (user: string) => [
  {
    type: "paragraph",
    content: [
      { type: "text", text: "Look, ", styles: {} },
      { type: "mention", props: { user, name: "Ben" } },
      { type: "text", text: "!", styles: {} },
    ],
  },
];
const revokeAccessOf = async (user: string): Promise<void> => {
  const { body } = await call(test.deps, listAccesses, { params: { id } });
  const accessId = body.find((one: { user: { id: string } }) => one.user.id === user).id;
  expect((await call(test.deps, revoke, { params: { id, accessId } })).status).toBe(204);
};

describe("comments", () => {
  it("of a new thread notify the owners, and replies the participants, but not who wrote them", async () => {
    const first = await thread("Is this right?", ada.token);
    expect(await kinds()).toEqual([["comment", "Is this right?"]]);
    expect(await kinds(ada.token)).toEqual([]);
    await comment(first, "I think so.", ben.token);
    await comment(first, "Yes.");
    expect(await kinds(ada.token)).toEqual([
      ["reply", "Yes."],
      ["reply", "I think so."],
    ]);
    expect(await kinds(ben.token)).toEqual([["reply", "Yes."]]);
    // The owner took part only afterwards.
    expect(await kinds()).toEqual([["comment", "Is this right?"]]);
  });

  it("notify mentioned users who may comment, once, as a mention", async () => {
    const cat = await addUser("cat", "Cat");
    const reader = await addUser("dan", "Dan");
    await grantRole(test.deps, id, reader.id, "reader");
    const body = [ben, ben, cat, reader, { id: NOWHERE }, { id: "' OR 1" }].flatMap((user) =>
      mention(user.id),
    );
    const first = await thread(body, ada.token);
    expect(await kinds(ben.token)).toEqual([["mention", expect.stringContaining("Look, @Ben!")]]);
    expect(await kinds(cat.token)).toEqual([]);
    expect(await kinds(reader.token)).toEqual([]);
    await comment(first, mention(ada.id));
    expect((await kinds(ada.token)).map(([kind]: string[]) => kind)).toEqual(["mention"]);
  });

  it("notify users who were mentioned in the thread of replies, too", async () => {
    const first = await thread(mention(ben.id), ada.token);
    await comment(first, "Any news?", ada.token);
    expect((await kinds(ben.token)).map(([kind]: string[]) => kind)).toEqual(["reply", "mention"]);
  });

  it("are listed with title, names and text as they are now", async () => {
    const first = await thread("Old", ada.token);
    await test.drain();
    await call(test.deps, rename, { params: { id }, body: { title: "New plan" } });
    const { results, ...page } = await notifications();
    expect(page).toEqual({ count: 1, next: null, previous: null, unread_count: 1 });
    const [{ comment_id }] = results;
    expect(results).toEqual([
      {
        id: expect.any(String),
        kind: "comment",
        created_at: new Date(test.clock.now()).toISOString(),
        read_at: null,
        actor: { full_name: "Ada Lovelace", short_name: "ada" },
        document: { id, title: "New plan" },
        thread_id: first,
        comment_id,
        block_id: null,
        excerpt: "Old",
        role: null,
        run: null,
      },
    ]);
    const params = { id, thread: first, comment: comment_id };
    await call(test.deps, updateComment, { params, body: { body: "New" }, token: ada.token });
    expect(await kinds()).toEqual([["comment", "New"]]);
    await call(test.deps, deleteComment, { params, token: ada.token });
    expect(await kinds()).toEqual([["comment", null]]);
  });

  it("of visitors without a token have no actor", async () => {
    await call(test.deps, setLink, {
      params: { id },
      body: { link_reach: "public", link_role: "commenter" },
    });
    await call(test.deps, createThread, { params: { id }, body: { body: "Hello" }, token: null });
    await test.drain();
    expect((await notifications()).results).toMatchObject([{ kind: "comment", actor: null }]);
  });

  it.each([
    ["a large text", "x".repeat(60_000), `${"x".repeat(300)}…`],
    ["control characters", "a\r\nBcc: b\u0000\u001bc", "a Bcc: b c"],
    ["HTML", "<script>alert(1)</script>", "<script>alert(1)</script>"],
    ["deep blocks", JSON.parse(`${'{"children":['.repeat(20)}{"text":"deep"}${"]}".repeat(20)}`), "deep"],
    ["values that are no blocks", [1, true, { type: "mention", props: 7 }, { content: { text: 5 } }], ""],
    ["half a character", `${"y".repeat(299)}\u{1f600}z`, `${"y".repeat(299)}\u{1f600}…`],
  ])("with %s have an excerpt", async (_what, body, excerpt) => {
    await thread(body, ada.token);
    expect(await kinds()).toEqual([["comment", excerpt]]);
  });
});

describe("shares and access requests", () => {
  it("notify the user, and the managers", async () => {
    const cat = await addUser("cat", "Cat");
    const shared = { user_id: cat.id, role: "editor" };
    await call(test.deps, share, { params: { id }, body: shared });
    const dan = await addUser("dan", "Dan");
    await call(test.deps, ask, { params: { id }, body: { role: "reader" }, token: dan.token });
    await test.drain();
    expect((await notifications(cat.token)).results).toMatchObject([
      { kind: "share", role: "editor", document: { title: "Plan" }, actor: { short_name: "owner" } },
    ]);
    expect((await notifications()).results).toMatchObject([
      { kind: "access_request", role: "reader", actor: { full_name: "Dan" } },
    ]);
    expect((await notifications(ada.token)).count).toBe(0);
  });
});

describe("a user who has lost access", () => {
  it("no longer sees notifications, and sees them again with access", async () => {
    const first = await thread("Secret", ada.token);
    await comment(first, "More", ben.token);
    await test.drain();
    expect(await notifications(ada.token)).toMatchObject({ count: 1, unread_count: 1 });
    await revokeAccessOf(ada.id);
    const lost = await call(test.deps, list, { token: ada.token });
    expect(lost.body).toEqual({ count: 0, next: null, previous: null, results: [], unread_count: 0 });
    await grantRole(test.deps, id, ada.id, "commenter");
    expect(await notifications(ada.token)).toMatchObject({ count: 1 });
    await call(test.deps, deleteDocument, { params: { id } });
    expect(await notifications(ada.token)).toMatchObject({ count: 0 });
    expect(await notifications()).toMatchObject({ count: 0 });
  });

  it("before the event was handled is not notified at all", async () => {
    const first = await thread("Secret", ada.token);
    await test.drain();
    await comment(first, "More", ben.token);
    await revokeAccessOf(ada.id);
    await test.drain();
    expect((await test.deps.tables.query(notificationsTable, { pk: ada.id })).items).toEqual([]);
  });

  it("is not notified while deactivated", async () => {
    const first = await thread("Secret", ada.token);
    await test.drain();
    await test.deps.tables.update(usersTable, userKey(ada.id), { set: { is_active: false } });
    await comment(first, "More", ben.token);
    await test.drain();
    expect((await test.deps.tables.query(notificationsTable, { pk: ada.id })).items).toEqual([]);
    expect((await call(test.deps, list, { token: ada.token })).status).toBe(401);
  });
});

describe("notifications", () => {
  it("are marked as read, one or all, by their user alone", async () => {
    const first = await thread("One", ada.token);
    for (const text of ["Two", "Three"]) await comment(first, text, ben.token);
    await test.drain();
    const { results } = await notifications(ada.token);
    const params = { id: results[0].id };
    const statusOf = async (asked: object) => (await call(test.deps, markRead, asked)).status;
    expect(await statusOf({ params, token: ben.token })).toBe(404);
    expect(await statusOf({ params: { id: NOWHERE }, token: ada.token })).toBe(404);
    expect(await statusOf({ params, token: null })).toBe(401);
    expect(await statusOf({ params, token: ada.token })).toBe(204);
    const at = (await notifications(ada.token)).results[0].read_at;
    test.clock.advance(1_000);
    expect(await statusOf({ params, token: ada.token })).toBe(204);
    expect((await notifications(ada.token)).results[0].read_at).toBe(at);
    const counted = async (is_read: string) => {
      const { count, unread_count } = await notifications(ada.token, { is_read });
      return [count, unread_count];
    };
    expect([await counted("true"), await counted("false")]).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect((await call(test.deps, markAllRead, { token: ada.token })).status).toBe(204);
    expect(await notifications(ada.token)).toMatchObject({ count: 2, unread_count: 0 });
    expect(await notifications()).toMatchObject({ unread_count: 1 });
  });

  it("come in pages", async () => {
    for (const text of ["1", "2", "3"]) await thread(text, ada.token);
    await test.drain();
    const page = await notifications(TEST_TOKEN, { page: "2", page_size: "2" });
    expect(page.results.map(({ excerpt }: { excerpt: string }) => excerpt)).toEqual(["1"]);
    expect([page.count, page.next, page.previous]).toEqual([3, null, expect.stringContaining("page_size=2")]);
    expect((await call(test.deps, list, { query: { page: "9" } })).status).toBe(404);
  });

  it("are created once, however often and in whatever order their events are delivered", async () => {
    const first = await thread("One", ada.token);
    await comment(first, "Two", ben.token);
    await test.drain(["notify"]);
    const { records } = await readLog(test.deps, { topic: "documents.commented" });
    expect(records).toHaveLength(2);
    const again = async () => {
      for (const { event_id, topic } of [...records, ...records.toReversed()])
        await test.deps.bus.publish([recordedEntry({ event_id, topic, matches: [] })]);
      await test.drain();
    };
    await again();
    await again();
    expect(await kinds()).toEqual([["comment", "One"]]);
    expect(await kinds(ada.token)).toEqual([["reply", "Two"]]);
  });

  it("end after 90 days", async () => {
    await thread("One", ada.token);
    await test.drain();
    test.clock.advance(89 * DAY_MS);
    expect(await notifications()).toMatchObject({ count: 1 });
    test.clock.advance(2 * DAY_MS);
    expect(await notifications()).toMatchObject({ count: 0 });
  });

  it("of one user are limited: the oldest are deleted", async () => {
    const item = { actor: null, document: id, in_app: true, read_at: null, expires_at: 9e9 };
    const old = Array.from({ length: NOTIFICATIONS_MAX + 60 }, (_, at) => ({
      ...notificationKey(OWNER_ID, `0000${String(at).padStart(4, "0")}-0000-7000-8000-000000000000`),
      ...item,
      kind: at % 2 === 0 ? "share" : "failed_run",
      created_at: new Date(at).toISOString(),
    }));
    for (let at = 0; at < old.length; at += 100)
      await test.deps.tables.write(
        old.slice(at, at + 100).map((one) => ({ op: "put", table: notificationsTable, item: one })),
      );
    await test.deps.tables.update(
      { ...notificationsTable },
      { pk: `${OWNER_ID}/state`, sk: "state" },
      { set: { total: old.length } },
    );
    await thread("Latest", ada.token);
    await test.drain();
    const { items } = await test.deps.tables.query(notificationsTable, { pk: OWNER_ID, reverse: true });
    const runs = items.filter(({ kind }) => kind === "failed_run");
    expect([items[0]?.kind, runs.length, items.length]).toEqual([
      "comment",
      RUN_NOTIFICATIONS_MAX,
      RUN_NOTIFICATIONS_MAX + old.length / 2 + 1,
    ]);
    expect(runs.at(-1)?.sk).toBe(
      old.filter(({ kind }) => kind === "failed_run").at(-RUN_NOTIFICATIONS_MAX)?.sk,
    );
  });
});

describe("settings", () => {
  const ON = { email: true, in_app: true };
  const set = (body: object, token = ada.token) => call(test.deps, setSettings, { body, token });

  it("are all on by default, except failed runs, and change one by one", async () => {
    const all = { comment: ON, reply: ON, mention: ON, share: ON, access_request: ON };
    const off = { email: false, in_app: false };
    expect((await call(test.deps, getSettings, { token: ada.token })).body).toEqual({
      ...all,
      failed_run: off,
    });
    const changed = { ...all, reply: { email: false, in_app: true }, failed_run: off };
    expect(await set({ reply: { email: false } })).toEqual({ status: 200, body: changed });
    expect((await call(test.deps, getSettings, { token: ada.token })).body).toEqual(changed);
    expect((await call(test.deps, getSettings, { token: ben.token })).body).toMatchObject({ reply: ON });
    expect((await set({})).body).toEqual(changed);
  });

  it("are refused by the name of the field", async () => {
    expect(await set({ reply: { email: "perhaps" } })).toMatchObject({
      status: 400,
      body: { reply: expect.anything() },
    });
    expect((await call(test.deps, setSettings, { body: {}, token: null })).status).toBe(401);
  });

  it("decide what is listed", async () => {
    await set({ reply: { in_app: false, email: false } });
    const first = await thread("One", ada.token);
    await comment(first, "Two", ben.token);
    await comment(first, mention(ada.id), ben.token);
    expect((await kinds(ada.token)).map(([kind]: string[]) => kind)).toEqual(["mention"]);
  });
});
