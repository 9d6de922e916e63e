import { afterEach, beforeEach, expect, it } from "vitest";
import * as Y from "yjs";
import type { Deps } from "#lib/app/aws.ts";
import { sendDueMails } from "#lib/documents/notifications/compose-mails.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { OWNER_ID } from "#lib/documents/users/users.ts";
import type { Mail } from "#lib/mail/mail.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { grantRole, type TestUser } from "#lib/testing/test-documents.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as patch } from "../content/patch.ts";
import { route as createDocument } from "../documents/create.ts";
import { route as append } from "../updates/append.ts";
import { route as setSettings } from "../users/update-notification-settings.ts";
import { route as list } from "./list.ts";

const EVENT_DELAY_MS = 31_000;

let test: TestDeps;
let id: string;
let content: Y.Doc;
let ada: TestUser;
let reader: TestUser;
let stranger: TestUser;
beforeEach(async () => {
  test = await testDeps();
  id = (await call(test.deps, createDocument, { body: { title: "Plan" } })).body.id;
  [ada, reader, stranger] = (await Promise.all(["Ada", "Rob", "Sue"].map(addUser))) as [
    TestUser,
    TestUser,
    TestUser,
  ];
  await grantRole(test.deps, id, ada.id, "editor");
  await grantRole(test.deps, id, reader.id, "reader");
  content = new Y.Doc();
  content.getXmlFragment("document-store").insert(0, [new Y.XmlElement("blockGroup")]);
});
afterEach(() => test.close());

async function addUser(name: string): Promise<TestUser> {
  const { token, record } = await createToken(test.deps, { email: `${name}@example.com`, name });
  return { id: record.user, token };
}

/** Adds a block that mentions users. */
function write(block: string, ...users: readonly string[]): void {
  const container = new Y.XmlElement("blockContainer");
  container.setAttribute("id", block);
  const paragraph = new Y.XmlElement("paragraph");
  container.insert(0, [paragraph]);
  const mentions = users.map((user) => {
    const mention = new Y.XmlElement("mention");
    mention.setAttribute("user", user);
    mention.setAttribute("name", "Somebody's name");
    return mention;
  });
  paragraph.insert(0, [new Y.XmlText("Ask "), ...mentions]);
  (content.getXmlFragment("document-store").get(0) as Y.XmlElement).push([container]);
}

async function save(token?: string): Promise<void> {
  const body = { content: Buffer.from(Y.encodeStateAsUpdate(content)).toString("base64") };
  const by = token === undefined ? {} : { token };
  expect((await call(test.deps, patch, { params: { id }, body, ...by })).status).toBe(204);
}

/** What a user is notified of, latest first, after the edits so far are told. */
async function notified({ token }: TestUser): Promise<readonly Record<string, unknown>[]> {
  test.clock.advance(EVENT_DELAY_MS);
  await test.tick();
  await test.drain(["send-mail"]);
  return (await call(test.deps, list, { token })).body.results;
}

it("users whom a text mentions are notified once per block, if they may read it", async () => {
  write("one", ada.id, ada.id.toUpperCase(), reader.id, stranger.id, OWNER_ID, "no id");
  await save();
  const [first, ...others] = await notified(ada);
  expect(others).toEqual([]);
  expect(first).toMatchObject({
    kind: "mention",
    actor: { full_name: expect.any(String) },
    document: { id, title: "Plan" },
    block_id: "one",
    thread_id: null,
    excerpt:
      "Ask @Somebody's name @Somebody's name @Somebody's name @Somebody's name @Somebody's name @Somebody's name",
  });
  expect(await notified(reader)).toMatchObject([{ kind: "mention", block_id: "one" }]);
  expect(await notified(stranger)).toEqual([]);

  write("two", reader.id);
  await save(ada.token);
  expect(await notified(ada)).toHaveLength(1);
  expect(await notified(reader)).toMatchObject([
    { block_id: "two", actor: { full_name: "Ada" } },
    { block_id: "one" },
  ]);
});

it("users are notified when they may read the text, at the next edit, and never of themselves", async () => {
  write("one", stranger.id, ada.id);
  await save(ada.token);
  expect(await notified(stranger)).toEqual([]);
  await grantRole(test.deps, id, stranger.id, "reader");
  write("two");
  await save();
  expect(await notified(stranger)).toMatchObject([{ kind: "mention", block_id: "one" }]);
  expect(await notified(ada)).toEqual([]);
});

it("the excerpt is the text of the block as it is now, and nothing of a block that is gone", async () => {
  write("one", ada.id);
  write("two");
  await save();
  expect(await notified(ada)).toMatchObject([{ excerpt: "Ask @Somebody's name" }]);
  const group = content.getXmlFragment("document-store").get(0) as Y.XmlElement;
  const paragraph = (group.get(0) as Y.XmlElement).get(0) as Y.XmlElement;
  (paragraph.get(0) as Y.XmlText).insert(0, "<b>Please</b> ");
  await save();
  expect(await notified(ada)).toMatchObject([{ excerpt: "<b>Please</b> Ask @Somebody's name" }]);
  group.delete(0, 1);
  await save();
  expect(await notified(ada)).toMatchObject([{ excerpt: null }]);
});

it("live edits notify, too, and a mention that is removed within half a minute does not", async () => {
  const updates: string[] = [];
  content.on("update", (update: Uint8Array) => updates.push(Buffer.from(update).toString("base64")));
  await save();
  write("one", ada.id);
  write("two", reader.id);
  (content.getXmlFragment("document-store").get(0) as Y.XmlElement).delete(1, 1);
  const sent = await call(test.deps, append, { params: { id }, body: { updates } });
  expect(sent.status).toBe(200);
  expect(await notified(ada)).toMatchObject([{ kind: "mention", block_id: "one" }]);
  expect(await notified(reader)).toEqual([]);
});

it("mentions in a text are sent in one email, unless they are turned off", async () => {
  await call(test.deps, setSettings, { body: { mention: { email: false } }, token: reader.token });
  write("one", ada.id, reader.id);
  await save();
  await notified(ada);
  write("two", ada.id);
  await save();
  await notified(ada);
  test.clock.advance(2 * 60_000);
  await test.drain(["send-mail"]);
  const sent: Mail[] = [];
  const mail = {
    send: async (one: Mail) => {
      sent.push(one);
      return "sent" as const;
    },
  };
  await sendDueMails({ ...test.deps, mail } as Deps, new AbortController().signal);
  expect(sent.map(({ to }) => to)).toEqual(["Ada@example.com"]);
  expect(sent[0]?.subject).toBe("owner mentioned you in: Plan");
  expect(sent[0]?.text).toContain("mentioned you:");
  expect(sent[0]?.text).toContain("Ask @Somebody's name");
});
