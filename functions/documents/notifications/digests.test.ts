import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Deps } from "#lib/app/aws.ts";
import { sendDueMails } from "#lib/documents/notifications/compose-mails.ts";
import { mailsTable, QUEUED_MAILS } from "#lib/documents/tables/mails.ts";
import { digestsTable } from "#lib/documents/tables/notifications.ts";
import { userKey, usersTable } from "#lib/documents/tables/users.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import type { Mail, MailOutcome } from "#lib/mail/mail.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { grantRole, type TestUser } from "#lib/testing/test-documents.ts";
import { call as callHandler } from "#lib/testing/test-handler-call.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as share } from "../accesses/create.ts";
import { route as revoke } from "../accesses/delete.ts";
import { route as listAccesses } from "../accesses/list.ts";
import { route as createDocument } from "../documents/create.ts";
import { route as rename } from "../documents/update.ts";
import { route as invite } from "../invitations/create.ts";
import { route as deleteInvitation } from "../invitations/delete.ts";
import { route as createThread } from "../threads/create.ts";
import { route as createComment } from "../threads/create-comment.ts";
import { route as deleteThread } from "../threads/delete.ts";
import { route as getSettings } from "../users/get-notification-settings.ts";
import { route as me } from "../users/me.ts";
import { route as setSettings } from "../users/update-notification-settings.ts";
import { handler as openLink } from "./open-unsubscribe-link.ts";
import { route as markAllRead } from "./read-all.ts";
import { handler as unsubscribe } from "./unsubscribe.ts";

const MINUTE_MS = 60_000;
const URL_PREFIX = "https://weft.example/api/v1.0/notifications/unsubscribe/?token=";

let test: TestDeps;
let id: string;
let ada: TestUser;
let ben: TestUser;
const settings = { PUBLIC_URL: "https://weft.example", DJANGO_EMAIL_URL_APP: "https://docs.example" };
beforeEach(async () => {
  test = await testDeps({ settings });
  await createFixtures();
});
afterEach(() => test.close());

async function createFixtures(): Promise<void> {
  id = (await call(test.deps, createDocument, { body: { title: "Plan" } })).body.id;
  ada = await addUser("ada", "Ada Lovelace");
  ben = await addUser("ben", "Ben");
  for (const { id: user } of [ada, ben]) await grantRole(test.deps, id, user, "commenter");
}

async function addUser(name: string, full: string): Promise<TestUser> {
  const { token, record } = await createToken(test.deps, { email: `${name}@example.com`, name: full });
  return { id: record.user, token };
}
const thread = async (body: unknown, token: string = TEST_TOKEN): Promise<string> =>
  (await call(test.deps, createThread, { params: { id }, body: { body }, token })).body.id;
const comment = async (of: string, body: unknown, token: string = TEST_TOKEN): Promise<string> =>
  (await call(test.deps, createComment, { params: { id, thread: of }, body: { body }, token })).body.id;
/** A thread of Ada's, of which nobody else is notified any more. */
const startThread = async (): Promise<string> => {
  await call(test.deps, setSettings, { body: { comment: { email: false }, reply: { email: false } } });
  await call(test.deps, setSettings, { body: { reply: { email: false } }, token: ben.token });
  const started = await thread("Is this right?", ada.token);
  await test.drain();
  return started;
};
const setLanguage = (user: TestUser, language: string) =>
  test.deps.tables.update(usersTable, userKey(user.id), { set: { language } });

/** Sends what is due with a fake mail server. */
async function send(answer: () => Promise<MailOutcome> = async () => "sent"): Promise<Mail[]> {
  const sent: Mail[] = [];
  const mail = {
    send: async (one: Mail) => {
      sent.push(one);
      return answer();
    },
  };
  await test.drain(["send-mail"]);
  const deps: Deps = { ...test.deps, mail };
  await sendDueMails(deps, new AbortController().signal);
  return sent;
}
const later = (minutes = 2): void => test.clock.advance(minutes * MINUTE_MS);
const queued = async () => (await test.deps.tables.query(mailsTable, { pk: QUEUED_MAILS })).items;
const tokenOf = ({ unsubscribeUrl = "" }: Mail): string => {
  expect(unsubscribeUrl.startsWith(URL_PREFIX)).toBe(true);
  return unsubscribeUrl.slice(URL_PREFIX.length);
};

describe("an email about a thread", () => {
  it("is sent two minutes after the first comment, with those until then, and once", async () => {
    const started = await startThread();
    await comment(started, "First", ben.token);
    expect(await send()).toEqual([]);
    later(1);
    await comment(started, "Second");
    expect(await send()).toEqual([]);
    later(1);
    const [mail, ...others] = await send();
    expect(others).toEqual([]);
    expect(mail).toMatchObject({
      to: "ada@example.com",
      subject: "2 new comments in: Plan",
      language: "en",
      text: expect.stringContaining("Ben replied:\n> First\n\nowner replied:\n> Second\n\n"),
    });
    expect(mail?.text).toContain(`Open the document: https://docs.example/docs/${id}/\n`);
    later(10);
    expect(await send()).toEqual([]);
    expect(await queued()).toEqual([]);
    expect((await test.deps.tables.query(digestsTable, { pk: `${ada.id}/digests` })).items).toEqual([]);
    await comment(started, "Third", ben.token);
    await test.drain(["send-mail"]);
    later(2);
    expect((await send()).map(({ subject }) => subject)).toEqual(["Ben replied in: Plan"]);
  });

  it("is sent by the timer, as a file without a mail server, with the headers to unsubscribe", async () => {
    const started = await startThread();
    await comment(started, "First", ben.token);
    await test.tick();
    later(2);
    await test.tick();
    const folder = join(test.folder, "mail");
    const [name = "", ...others] = await readdir(folder);
    expect(others).toEqual([]);
    const source = (await readFile(join(folder, name), "utf8")).replace(/\r\n[ \t]+/g, " ");
    expect(source).toContain("To: ada@example.com");
    expect(source).toMatch(
      /^List-Unsubscribe: <https:\/\/weft\.example\/api\/v1\.0\/notifications\/unsubscribe\/\?token=/m,
    );
    expect(source).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
  });

  it("is one per thread", async () => {
    for (const started of [await startThread(), await startThread()])
      await comment(started, "Yes", ben.token);
    await test.drain(["send-mail"]);
    later();
    expect(await send()).toHaveLength(2);
  });

  it("contains nothing that was read, and is not sent if all was", async () => {
    const started = await startThread();
    await comment(started, "First", ben.token);
    await test.drain(["send-mail"]);
    await call(test.deps, markAllRead, { token: ada.token });
    await comment(started, "Second", ben.token);
    await test.drain(["send-mail"]);
    later();
    const [mail] = await send();
    expect(mail?.text).toContain("Second");
    expect(mail?.text).not.toContain("First");
    await comment(started, "Third", ben.token);
    await test.drain(["send-mail"]);
    await call(test.deps, markAllRead, { token: ada.token });
    later();
    expect(await send()).toEqual([]);
    expect(await queued()).toEqual([]);
  });

  it.each([
    [
      "lost access",
      async () => {
        const { body } = await call(test.deps, listAccesses, { params: { id } });
        const accessId = body.find((one: { user: { id: string } }) => one.user.id === ada.id).id;
        await call(test.deps, revoke, { params: { id, accessId } });
      },
    ],
    [
      "was deactivated",
      () => test.deps.tables.update(usersTable, userKey(ada.id), { set: { is_active: false } }),
    ],
    [
      "turned emails off",
      () => call(test.deps, setSettings, { body: { reply: { email: false } }, token: ada.token }),
    ],
  ])("is not sent to a user who %s meanwhile, nor later", async (_what, change) => {
    const started = await startThread();
    await comment(started, "Secret", ben.token);
    await test.drain(["send-mail"]);
    await change();
    later();
    expect(await send()).toEqual([]);
    await grantRole(test.deps, id, ada.id, "commenter").catch(() => undefined);
    await test.deps.tables.update(usersTable, userKey(ada.id), { set: { is_active: true } });
    await call(test.deps, setSettings, { body: { reply: { email: true } }, token: ada.token });
    await comment(started, "Public", ben.token);
    await test.drain(["send-mail"]);
    later();
    const [mail] = await send();
    expect(mail?.text).toContain("Public");
    expect(mail?.text).not.toContain("Secret");
  });

  it("is not sent about a thread that was deleted", async () => {
    const started = await startThread();
    await comment(started, "Secret", ben.token);
    await test.drain(["send-mail"]);
    await call(test.deps, deleteThread, { params: { id, thread: started }, token: ada.token });
    later();
    expect(await send()).toEqual([]);
  });

  it("is in the recipient's language, and names a mention", async () => {
    await setLanguage(ada, "fr-fr");
    await thread([{ type: "mention", props: { user: ada.id, name: "Ada" } }, { text: " viens" }], ben.token);
    await call(test.deps, setSettings, { body: { comment: { email: false } } });
    await test.drain(["send-mail"]);
    later();
    const mail = (await send()).find(({ to }) => to === "ada@example.com");
    expect(mail).toMatchObject({
      language: "fr",
      subject: "Ben vous a mentionné dans : Plan",
      html: expect.stringContaining('<html lang="fr">'),
    });
    expect(mail?.text).toContain("> @Ada viens");
  });

  it("escapes and shortens what others wrote", async () => {
    const hostile = `<img src=x onerror=alert(1)>\r\nBcc: eve@example.com\u202e${"x".repeat(5_000)}`;
    await call(test.deps, rename, { params: { id }, body: { title: hostile.slice(0, 255) } });
    await test.deps.tables.update(usersTable, userKey(ben.id), { set: { full_name: hostile } });
    const started = await startThread();
    await comment(started, `${hostile}${"y".repeat(50_000)}`, ben.token);
    await test.drain(["send-mail"]);
    later();
    const [mail] = await send();
    expect(mail?.subject).not.toMatch(/[\r\n\u202e]/);
    expect(mail?.subject.length).toBeLessThan(300);
    expect(mail?.html).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(mail?.html).not.toContain("<img");
    expect(mail?.text).not.toMatch(/^Bcc:|\u202e/m);
    expect(mail?.text.length).toBeLessThan(2_000);
  });

  it("is retried with the same id if the mail server is unavailable, and sent once", async () => {
    const started = await startThread();
    await comment(started, "First", ben.token);
    await test.drain(["send-mail"]);
    later();
    const [failed] = await send(async () => {
      throw Object.assign(new Error("away"), { code: "ECONNECTION" });
    });
    expect(await send()).toEqual([]);
    later(5);
    const [sent, ...others] = await send();
    expect([sent?.id, others]).toEqual([failed?.id, []]);
    later(60);
    expect(await send()).toEqual([]);
  });
});

describe("a process that dies", () => {
  it("while it handles a comment or sends its email loses and repeats nothing", async () => {
    const folder = await mkdtemp(join(tmpdir(), "weft-notifications-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const options = { folder, clock: test.clock, settings };
    await test.close();
    test = await testDeps(options);
    await createFixtures();
    const started = await startThread();
    const mails = async (): Promise<string[]> => {
      const names = await readdir(join(folder, "mail")).catch(() => []);
      return Promise.all(names.toSorted().map((name) => readFile(join(folder, "mail", name), "utf8")));
    };
    for (let crashAtCommit = 1; crashAtCommit <= 10; crashAtCommit += 1) {
      await comment(started, `Comment ${crashAtCommit}`, ben.token);
      await test.drain(["notify", "send-mail"]);
      await test.close();
      later(10);
      const dying = await testDeps({ ...options, hostile: { seed: crashAtCommit, crashAtCommit } });
      await dying.drain().catch(() => undefined);
      await dying.close().catch(() => undefined);
      test = await testDeps(options);
      // What the dead process had received is visible again, and what it had begun to send is due.
      for (let time = 0; time < 3; time += 1) {
        later(10);
        await test.tick();
        await sendDueMails(test.deps, new AbortController().signal);
      }
      const sent = (await mails()).filter((source) =>
        source.split(/\r?\n/).includes(`> Comment ${crashAtCommit}`),
      );
      expect([crashAtCommit, sent.length, await queued()]).toEqual([crashAtCommit, 1, []]);
    }
  });
});

describe("an email about a shared document", () => {
  const shareWith = (user_id: string) =>
    call(test.deps, share, { params: { id }, body: { user_id, role: "reader" } });

  it("is sent at once, can be turned off, and is not sent to who has lost access", async () => {
    const [cat, dan, eve] = [
      await addUser("cat", "Cat"),
      await addUser("dan", "Dan"),
      await addUser("eve", "Eve"),
    ];
    await call(test.deps, setSettings, { body: { share: { email: false } }, token: dan.token });
    await shareWith(cat.id);
    await shareWith(dan.id);
    const accessId = (await shareWith(eve.id)).body.id;
    await call(test.deps, revoke, { params: { id, accessId } });
    const sent = await send();
    expect(sent.map(({ to }) => to)).toEqual(["cat@example.com"]);
    expect(sent[0]?.text).toContain(`Unsubscribe from such emails: ${sent[0]?.unsubscribeUrl}`);
    expect(await queued()).toEqual([]);
  });
});

describe("an email to an invited address", () => {
  it("is sent unless the invitation was deleted meanwhile", async () => {
    const inviteTo = async (email: string): Promise<string> =>
      (await call(test.deps, invite, { params: { id }, body: { email, role: "reader" } })).body.id;
    const invitationId = await inviteTo("fay@example.com");
    await inviteTo("gus@example.com");
    await inviteTo("hal@example.com");
    await call(test.deps, deleteInvitation, { params: { id, invitationId } });
    // He accepts it before the email is sent.
    await call(test.deps, me, { token: (await addUser("hal", "Hal")).token });
    expect((await send()).map(({ to }) => to)).toEqual(["gus@example.com", "hal@example.com"]);
  });
});

describe("an unsubscribe link", () => {
  const settingsOf = async ({ token }: TestUser) => (await call(test.deps, getSettings, { token })).body;
  const mailOf = async (): Promise<Mail> => {
    const started = await startThread();
    await comment(started, "First", ben.token);
    await test.drain(["send-mail"]);
    later();
    const [mail] = await send();
    if (mail === undefined) throw new Error("no mail was sent");
    return mail;
  };
  const open = (token: string) =>
    callHandler(test.deps, openLink, { method: "GET", token: null, query: { token } });
  const post = (token: string, body = "List-Unsubscribe=One-Click") =>
    callHandler(test.deps, unsubscribe, {
      method: "POST",
      token: null,
      query: { token },
      body,
      headers: { "content-type": "application/x-www-form-urlencoded", origin: "https://elsewhere.example" },
    });

  it("turns off the emails of its kinds by one request, and nothing by opening it", async () => {
    const token = tokenOf(await mailOf());
    const page = await open(token);
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.text).toContain("emails about replies?");
    expect(page.headers["content-security-policy"]).toContain("form-action 'self'");
    expect(await settingsOf(ada)).toMatchObject({ reply: { email: true } });
    const done = await post(token);
    expect([done.status, done.text]).toEqual([200, expect.stringContaining("no more emails about replies")]);
    expect(await settingsOf(ada)).toMatchObject({
      reply: { email: false, in_app: true },
      mention: { email: true },
    });
    expect((await post(token, "")).status).toBe(200);
  });

  it("is in the user's language", async () => {
    await setLanguage(ada, "fr-fr");
    expect((await open(tokenOf(await mailOf()))).text).toContain("Se désabonner");
  });

  it("that was changed is refused", async () => {
    const token = tokenOf(await mailOf());
    const [payload = "", signature = ""] = token.split(".");
    const other = Buffer.from(JSON.stringify({ user: ben.id, kinds: ["share"] })).toString("base64url");
    const forged = [
      "",
      ".",
      payload,
      `.${signature}`,
      `${other}.${signature}`,
      `${payload}.${signature.slice(1)}`,
      `${payload}.${signature}.x`,
      `${payload}x.${signature}`,
      `${token}${"x".repeat(5_000)}`,
      "%00",
    ];
    for (const one of forged)
      for (const { status, text } of [await open(one), await post(one)])
        expect([one.slice(0, 20), status, text.includes("not valid")]).toEqual([one.slice(0, 20), 403, true]);
    expect(await settingsOf(ada)).toMatchObject({ reply: { email: true } });
    expect(await settingsOf(ben)).toMatchObject({ share: { email: true } });
  });
});
