import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Deps } from "#lib/app/aws.ts";
import { renderEmail } from "#lib/documents/mail/email-templates.ts";
import { sendDueMails } from "#lib/documents/notifications/compose-mails.ts";
import { mailKey, mailsTable, QUEUED_MAILS, type StoredMail } from "#lib/documents/tables/mails.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { planUser } from "#lib/documents/users/users.ts";
import type { Mail, MailOutcome } from "#lib/mail/mail.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as ask } from "../ask-for-access/create.ts";
import { route as make } from "../documents/create.ts";
import { route as invite } from "../invitations/create.ts";
import { route as share } from "./create.ts";

const MINUTE_MS = 60_000;

let test: TestDeps;
let root: string;
beforeEach(async () => {
  test = await testDeps({
    settings: { DJANGO_EMAIL_URL_APP: "https://docs.example", DJANGO_EMAIL_BRAND_NAME: "Weft Docs" },
  });
  root = await document("Plans");
});
afterEach(() => test.close());

const document = async (title: string): Promise<string> =>
  (await call(test.deps, make, { body: { title }, token: TEST_TOKEN })).body.id;
const user = async (email: string, language: string | null = null) => {
  const planned = planUser(test.deps, { email, language, full_name: "Anna" });
  await test.deps.tables.write(planned.writes);
  return planned.user;
};
const shareWith = async (id: string, user_id: string, role = "editor") =>
  expect(
    (await call(test.deps, share, { params: { id }, body: { user_id, role }, token: TEST_TOKEN })).status,
  ).toBe(201);
const files = async (): Promise<string[]> => {
  const folder = join(test.folder, "mail");
  const names = await readdir(folder).catch(() => []);
  return Promise.all(names.toSorted().map((name) => readFile(join(folder, name), "utf8")));
};
/** The text of a mail, with its transfer encoding decoded as far as it hides text. */
const plain = (source = ""): string =>
  source
    .replace(/=\r?\n/g, "")
    .replace(/((?:=[0-9A-F]{2})+)/g, (bytes) =>
      Buffer.from(bytes.replaceAll("=", ""), "hex").toString("utf8"),
    );
const waiting = async (): Promise<StoredMail[]> =>
  (await test.deps.tables.query(mailsTable, { pk: QUEUED_MAILS })).items as StoredMail[];

/** Sends with a fake mail server. */
const sending = (send: (mail: Mail) => Promise<MailOutcome>) => {
  const sent: Mail[] = [];
  const deps: Deps = {
    ...test.deps,
    mail: {
      send: async (mail) => {
        sent.push(mail);
        return send(mail);
      },
    },
  };
  return { sent, run: () => sendDueMails(deps, new AbortController().signal) };
};
const away = async (): Promise<MailOutcome> => {
  throw Object.assign(new Error("connect ECONNREFUSED anna@example.com"), { code: "ECONNECTION" });
};

describe("mails are sent", () => {
  it("when a document is shared with a user, in their language, with its URL", async () => {
    const anna = await user("anna@example.com", "fr-fr");
    await shareWith(root, anna.id);
    await test.drain();
    const [source, ...others] = await files();
    expect(others).toEqual([]);
    expect(source).toContain("To: anna@example.com");
    expect(source).toContain("Content-Language: fr");
    expect(plain(source)).toContain(
      `https://docs.example/docs/${root}/?utm_source=docssharelink&utm_campaign=${root}`,
    );
    expect(plain(source)).toContain("owner@weft.local a partagé un document avec vous");
    expect(await waiting()).toEqual([]);
  });

  it("for invitations and access requests", async () => {
    const { status } = await call(test.deps, invite, {
      params: { id: root },
      body: { email: "new@example.com", role: "reader" },
      token: TEST_TOKEN,
    });
    const { token } = await createToken(test.deps, { email: "ben@example.com", name: "Ben" });
    const asked = await call(test.deps, ask, { params: { id: root }, body: { role: "editor" }, token });
    expect([status, asked.status]).toEqual([201, 201]);
    await test.drain();
    const [invited, request] = (await files()).map(plain);
    expect(invited).toContain("To: new@example.com");
    expect(invited).toContain("invited you to a document");
    expect(request).toContain("To: owner@weft.local");
    expect(request).toContain("Ben (ben@example.com) requests access to a document");
    expect(request).toContain("an editor of the document “Plans”");
  });

  it("but not to teams", async () => {
    await call(test.deps, share, { params: { id: root }, body: { team: "press" }, token: TEST_TOKEN });
    await test.drain();
    expect(await files()).toEqual([]);
  });
});

describe("a mail that cannot be sent", () => {
  it("does not prevent sharing, and is retried later and sent once", async () => {
    const anna = await user("anna@example.com");
    await shareWith(root, anna.id);
    const down = sending(away);
    await down.run();
    await down.run();
    expect(down.sent).toHaveLength(1);
    const up = sending(async () => "sent");
    await up.run();
    expect(up.sent).toEqual([]);
    test.clock.advance(5 * MINUTE_MS);
    await up.run();
    await up.run();
    expect(up.sent.map(({ id, to }) => [id, to])).toEqual([[down.sent[0]?.id, "anna@example.com"]]);
    expect(await waiting()).toEqual([]);
  });

  it("is dropped after ten attempts and logged without the address", async () => {
    await shareWith(root, (await user("anna@example.com")).id);
    const down = sending(away);
    for (let time = 0; time < 12; time += 1) {
      await down.run();
      test.clock.advance(6 * 60 * MINUTE_MS);
    }
    expect(down.sent).toHaveLength(10);
    expect(await waiting()).toEqual([]);
    const told = test.logs.filter(({ message }) => message.includes("mail"));
    expect(told.at(-1)).toMatchObject({ level: "error", fields: { attempt: 10, error: "ECONNECTION" } });
    expect(JSON.stringify(told)).not.toContain("@");
  });

  it("is not retried if it is rejected", async () => {
    await shareWith(root, (await user("anna@example.com")).id);
    const refusing = sending(async () => "refused");
    await refusing.run();
    test.clock.advance(60 * MINUTE_MS);
    await refusing.run();
    expect(refusing.sent).toHaveLength(1);
  });

  it("whose sender dies is sent by the next one, after a while", async () => {
    await shareWith(root, (await user("anna@example.com")).id);
    // This sender never finishes.
    void sending(() => new Promise<never>(() => undefined)).run();
    await expect.poll(async () => (await waiting())[0]?.attempts).toBe(1);
    const next = sending(async () => "sent");
    await next.run();
    expect(next.sent).toEqual([]);
    test.clock.advance(5 * MINUTE_MS);
    await next.run();
    expect(next.sent).toHaveLength(1);
  });

  it("is sent once by two concurrent senders", async () => {
    for (const name of ["a", "b", "c"]) await shareWith(root, (await user(`${name}@example.com`)).id);
    const both = sending(async () => "sent");
    await Promise.all([both.run(), both.run()]);
    expect(both.sent.map(({ to }) => to).toSorted()).toEqual([
      "a@example.com",
      "b@example.com",
      "c@example.com",
    ]);
  });
});

describe("user-defined names and titles", () => {
  const { letterhead } = {
    letterhead: { brandName: "Docs", logoUrl: undefined, appUrl: "https://d.example" },
  };
  const letter = (parts: Partial<StoredMail>) =>
    renderEmail(
      {
        ...mailKey("2026-01-01", "1"),
        id: "1",
        kind: "shared",
        to: "a@example.com",
        language: null,
        sender: "Ben",
        document: root,
        title: "Plans",
        role: "reader",
        created_at: "",
        attempts: 0,
        ...parts,
      },
      letterhead,
    );

  it.each([
    "<img src=x onerror=alert(1)>",
    '"><script>alert(1)</script>',
    "<svg onload=alert(1)>",
    "</title><iframe srcdoc='<b>'>",
    "<a href=javascript:alert(1)>click</a>",
  ])("is text in HTML: %s", (text) => {
    const { html } = letter({ title: text, sender: text });
    const tags = [...html.matchAll(/<\/?([a-z]+)/gi)].map(([, name]) => name);
    expect(new Set(tags)).toEqual(new Set(["html", "head", "meta", "title", "body", "h", "p", "a"]));
    expect([...html.matchAll(/href="([^"]*)"/g)].map(([, link]) => link)).toEqual([
      `https://d.example/docs/${root}/?utm_source=docssharelink&amp;utm_campaign=${root}`,
    ]);
  });

  it.each(["\r\nBcc: evil@example.com", "\nSubject: other", "\u2028x", "\u0000x", "\u202egnp.exe"])(
    "is one line, as it reads: %j",
    (text) => {
      const { subject, text: body } = letter({ title: `Plans${text}`, sender: `Ben${text}` });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for these
      expect(subject).not.toMatch(/[\u0000-\u001f\u007f\u2028\u2029\u202a-\u202e]/);
      expect(body.split("\n")).toHaveLength(8);
    },
  );

  it("are truncated, and their placeholders are not filled in", () => {
    const { subject } = letter({ title: "{sender}{brand}".padEnd(255, "x"), sender: "{title}" });
    expect(subject).toMatch(/^\{title\} shared a document with you: \{sender\}\{brand\}x+…$/);
    expect(subject.length).toBeLessThan(180);
    expect(letter({ title: "  " }).subject).toContain("Untitled document");
    expect(letter({ language: "__proto__" }).language).toBe("en");
  });
});
