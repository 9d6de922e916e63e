import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { afterEach, describe, expect, it } from "vitest";
import { readConfig } from "../settings/config.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../testing/test-certificate.ts";
import { isMailAddress, type Mail, noMailer } from "./mail.ts";
import { folderMailer } from "./mail-folder.ts";
import { smtpMailer } from "./smtp.ts";

const FROM = { name: "Docs", address: "docs@weft.example" };
const mail = (parts: Partial<Mail> = {}): Mail => ({
  id: "0199-1",
  to: "anna@example.com",
  subject: "A document",
  text: "Hello\n",
  html: "<p>Hello</p>",
  language: "en",
  ...parts,
});

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Received {
  readonly to: string[];
  readonly from: string;
  readonly text: string;
  readonly user: unknown;
}

/** A real mail server on this machine, and the mails that it accepted. */
async function mailServer(options: SMTPServerOptions = {}) {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          to: rcptTo.map(({ address }) => address),
          from: mailFrom === false ? "" : mailFrom.address,
          text: Buffer.concat(chunks).toString("utf8"),
          user: session.user,
        });
        done();
      });
    },
    ...options,
  });
  // Some tests close the connection from the client.
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { port, received };
}

const settings = (port: number, more: Record<string, string> = {}) => {
  const { smtp } = readConfig({
    DJANGO_EMAIL_HOST: "127.0.0.1",
    DJANGO_EMAIL_PORT: String(port),
    ...more,
  }).mail;
  return smtp!;
};
const none = async () => undefined;

describe("a mail server", () => {
  it("receives a mail for one recipient, in text and HTML, with a stable id", async () => {
    const { port, received } = await mailServer();
    const mailer = smtpMailer(settings(port), FROM, none);
    expect(await mailer.send(mail())).toBe("sent");
    expect(await mailer.send(mail())).toBe("sent");
    expect(received.map(({ to, from }) => [from, ...to])).toEqual([
      ["docs@weft.example", "anna@example.com"],
      ["docs@weft.example", "anna@example.com"],
    ]);
    const { text } = received[0]!;
    expect(text).toContain("From: Docs <docs@weft.example>");
    expect(text).toContain("Subject: A document");
    expect(text).toContain("Content-Type: text/plain");
    expect(text).toContain("Content-Type: text/html");
    expect(text).toContain("Content-Language: en");
    for (const one of received) expect(one.text).toContain("Message-ID: <0199-1@weft.example>");
  });

  it("authenticates the sender on request, with the password of the settings or the secret", async () => {
    const { port, received } = await mailServer({
      authOptional: false,
      onAuth: ({ username, password }, _session, done) =>
        password === "right" ? done(null, { user: username ?? "" }) : done(new Error("wrong")),
    });
    const user = { DJANGO_EMAIL_HOST_USER: "weft" };
    const known = settings(port, { ...user, DJANGO_EMAIL_HOST_PASSWORD: "right" });
    expect(await smtpMailer(known, FROM, none).send(mail())).toBe("sent");
    expect(await smtpMailer(settings(port, user), FROM, async () => "right").send(mail())).toBe("sent");
    expect(received.map((one) => one.user)).toEqual(["weft", "weft"]);
    await expect(smtpMailer(settings(port, user), FROM, none).send(mail())).rejects.toThrow();
  });

  it("is not retried if it rejects the recipient, and is retried if it is busy or unreachable", async () => {
    const answer = (status: number) => ({
      onRcptTo: (_address: unknown, _session: unknown, done: (error?: Error) => void) =>
        done(Object.assign(new Error("no"), { responseCode: status })),
    });
    const gone = await mailServer(answer(550));
    expect(await smtpMailer(settings(gone.port), FROM, none).send(mail())).toBe("refused");
    const busy = await mailServer(answer(451));
    await expect(smtpMailer(settings(busy.port), FROM, none).send(mail())).rejects.toThrow();
    await expect(smtpMailer(settings(1), FROM, none).send(mail())).rejects.toThrow();
  });

  it("without TLS receives nothing if TLS is required", async () => {
    const { port, received } = await mailServer();
    const asked = settings(port, { DJANGO_EMAIL_USE_TLS: "true" });
    await expect(smtpMailer(asked, FROM, none).send(mail())).rejects.toThrow();
    expect(received).toEqual([]);
  });

  it("with an invalid certificate receives nothing, with implicit TLS or STARTTLS", async () => {
    const certificate = { key: TEST_KEY, cert: TEST_CERTIFICATE };
    const tls = await mailServer({ ...certificate, secure: true });
    const wrapped = settings(tls.port, { DJANGO_EMAIL_USE_SSL: "true" });
    await expect(smtpMailer(wrapped, FROM, none).send(mail())).rejects.toThrow(/self.signed/);
    const later = await mailServer({ ...certificate, disabledCommands: [] });
    const asked = settings(later.port, { DJANGO_EMAIL_USE_TLS: "true" });
    await expect(smtpMailer(asked, FROM, none).send(mail())).rejects.toThrow(/self.signed/);
    expect([...tls.received, ...later.received]).toEqual([]);
  });

  it("does not parse a subject or an address as a header or a further recipient", async () => {
    const { port, received } = await mailServer();
    const mailer = smtpMailer(settings(port), FROM, none);
    const hostile = "Plans\r\nBcc: evil@example.com\r\n\r\n<h1>hi</h1>";
    expect(await mailer.send(mail({ subject: hostile }))).toBe("sent");
    const [head = ""] = received[0]!.text.split("\r\n\r\n");
    expect(head.split("\r\n").filter((line) => /^(bcc|cc|to):/i.test(line))).toEqual([
      "To: anna@example.com",
    ]);
    expect(received[0]!.to).toEqual(["anna@example.com"]);
    for (const to of [
      "a@example.com\r\nBcc: evil@example.com",
      "a@example.com, evil@example.com",
      "Anna <a@example.com>",
      "group: a@example.com;",
      "nobody",
    ]) {
      expect(isMailAddress(to)).toBe(false);
      expect(await mailer.send(mail({ to }))).toBe("refused");
    }
    expect(received).toHaveLength(1);
  });
});

describe("a mail folder", () => {
  it("keeps the latest mails, once each, readable only by their owner", async () => {
    const folder = await mkdtemp(join(tmpdir(), "weft-mail-"));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, "mail");
    const mailer = folderMailer(path, FROM, 2);
    for (const id of ["0199-1", "0199-2", "0199-3", "0199-3"])
      expect(await mailer.send(mail({ id }))).toBe("sent");
    expect(await readdir(path)).toEqual(["0199-2.eml", "0199-3.eml"]);
    expect((await stat(join(path, "0199-3.eml"))).mode & 0o777).toBe(0o600);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(path, "0199-3.eml"), "utf8")).toContain("To: anna@example.com");
    for (const bad of [{ id: "../outside" }, { to: "a@b.c, d@e.f" }])
      expect(await mailer.send(mail(bad))).toBe("refused");
  });
});

it("without a server or folder, a mail is logged without its recipient", async () => {
  const lines: string[] = [];
  const mailer = noMailer({ warn: (...said) => lines.push(JSON.stringify(said)) });
  expect(await mailer.send(mail())).toBe("refused");
  expect(lines.join()).toContain("DJANGO_EMAIL_HOST");
  expect(lines.join()).not.toContain("anna");
});

describe("the settings of mails", () => {
  it("have the defaults of existing installations", () => {
    const { mail: read } = readConfig({ PORT: "3001" });
    expect(read).toEqual({
      smtp: undefined,
      from: "from@example.com",
      letterhead: { brandName: "Docs", logoUrl: undefined, appUrl: "http://127.0.0.1:3001" },
    });
    expect(settings(25)).toEqual({
      host: "127.0.0.1",
      port: 25,
      security: "none",
      user: undefined,
      password: undefined,
    });
    expect(settings(465, { DJANGO_EMAIL_USE_SSL: "True" }).security).toBe("tls");
    const { letterhead } = readConfig({ DJANGO_EMAIL_URL_APP: "https://docs.example/" }).mail;
    expect(letterhead.appUrl).toBe("https://docs.example");
  });

  it.each([
    [{ DJANGO_EMAIL_PORT: "0" }, "DJANGO_EMAIL_PORT"],
    [{ DJANGO_EMAIL_USE_TLS: "perhaps" }, "DJANGO_EMAIL_USE_TLS"],
    [{ DJANGO_EMAIL_USE_TLS: "1", DJANGO_EMAIL_USE_SSL: "1" }, "set one of them to false"],
    [{ DJANGO_EMAIL_FROM: "Docs <docs@example.com>" }, "DJANGO_EMAIL_FROM"],
    [{ DJANGO_EMAIL_URL_APP: "javascript:alert(1)" }, "DJANGO_EMAIL_URL_APP"],
    [{ DJANGO_EMAIL_BRAND_NAME: "Docs\r\nBcc: x@y.z" }, "DJANGO_EMAIL_BRAND_NAME"],
  ])("stop the start where they are wrong: %j", (environment, said) => {
    expect(() => readConfig(environment)).toThrow(said);
  });
});
