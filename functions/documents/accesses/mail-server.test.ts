import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sendDueMails } from "#lib/documents/notifications/compose-mails.ts";
import { mailsTable, QUEUED_MAILS, type StoredMail } from "#lib/documents/tables/mails.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { smtpMailer } from "#lib/mail/smtp.ts";
import { readConfig } from "#lib/settings/config.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as make } from "../documents/create.ts";
import { route as invite } from "../invitations/create.ts";
import { route as list } from "../invitations/list.ts";

const MINUTE_MS = 60_000;
const WAITS = { connectMs: 300, greetingMs: 300, silenceMs: 300, allMs: 1_500 };
const FROM = { name: "Docs", address: "docs@weft.example" };

let test: TestDeps;
let root: string;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  test = await testDeps();
  root = (await call(test.deps, make, { body: { title: "Plans" }, token: TEST_TOKEN })).body.id;
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await test.close();
});

interface Received {
  readonly to: readonly string[];
  readonly text: string;
}

/** A real mail server on this machine. */
async function mailServer(options: SMTPServerOptions = {}, port = 0) {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        received.push({ to, text: Buffer.concat(chunks).toString() });
        done();
      });
    },
    ...options,
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  closing.push(close);
  return { port: (server.server.address() as AddressInfo).port, received, close };
}

/** A server on a port that is not a mail server. */
async function strange(talk: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    talk(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const inviteOne = async (email: string): Promise<void> => {
  const asked = { params: { id: root }, body: { email, role: "reader" }, token: TEST_TOKEN };
  expect((await call(test.deps, invite, asked)).status).toBe(201);
};
const waiting = async (): Promise<StoredMail[]> =>
  (await test.deps.tables.query(mailsTable, { pk: QUEUED_MAILS })).items as StoredMail[];
const sendBy = (port: number, signal = new AbortController().signal): Promise<void> => {
  const { smtp } = readConfig({ DJANGO_EMAIL_HOST: "127.0.0.1", DJANGO_EMAIL_PORT: String(port) }).mail;
  return sendDueMails({ ...test.deps, mail: smtpMailer(smtp!, FROM, async () => undefined, WAITS) }, signal);
};
const readers = (received: readonly Received[]) => received.flatMap(({ to }) => to).toSorted();

describe("mails", () => {
  it("wait for an unreachable server, and are each sent once when it returns", async () => {
    const away = await mailServer();
    await away.close();
    for (const name of ["a", "b", "c"]) await inviteOne(`${name}@example.com`);
    for (let round = 0; round < 3; round += 1) {
      await sendBy(away.port);
      expect(await waiting()).toHaveLength(3);
      test.clock.advance(60 * MINUTE_MS);
    }
    const back = await mailServer({}, away.port);
    await Promise.all([sendBy(back.port), sendBy(back.port)]);
    await sendBy(back.port);
    expect(readers(back.received)).toEqual(["a@example.com", "b@example.com", "c@example.com"]);
    expect(await waiting()).toEqual([]);
  });

  it("to other recipients are sent if the server rejects one permanently, which is not retried", async () => {
    const asked: string[] = [];
    const server = await mailServer({
      onRcptTo: ({ address }, _session, done) => {
        asked.push(address);
        const isGone = address.startsWith("gone");
        done(isGone ? Object.assign(new Error("no such reader"), { responseCode: 550 }) : null);
      },
    });
    for (const name of ["a", "gone", "b"]) await inviteOne(`${name}@example.com`);
    await sendBy(server.port);
    test.clock.advance(24 * 60 * MINUTE_MS);
    await sendBy(server.port);
    expect(readers(server.received)).toEqual(["a@example.com", "b@example.com"]);
    expect(asked.filter((address) => address.startsWith("gone"))).toHaveLength(1);
    expect(await waiting()).toEqual([]);
    // The invitation exists without the mail.
    const { body } = await call(test.deps, list, {
      params: { id: root },
      token: TEST_TOKEN,
      headers: { host: "docs.example" },
    });
    expect(body.count).toBe(3);
    const told = test.logs.filter(({ message }) => message === "the mail server rejected an email");
    expect(told).toHaveLength(1);
    expect(JSON.stringify(test.logs)).not.toContain("gone@");
  });

  it.each(["MAIL", "RCPT", "DATA"])("are sent later, once, if the server is busy at %s", async (at) => {
    let busy = true;
    const maybe =
      (here: string) => (_address: unknown, _session: unknown, done: (error?: Error | null) => void) =>
        done(busy && at === here ? Object.assign(new Error("later"), { responseCode: 451 }) : null);
    const received: string[] = [];
    const server = await mailServer({
      onMailFrom: maybe("MAIL"),
      onRcptTo: maybe("RCPT"),
      onData: (stream, session, done) => {
        stream.resume().on("end", () => {
          if (busy && at === "DATA") return done(Object.assign(new Error("later"), { responseCode: 452 }));
          received.push(...session.envelope.rcptTo.map(({ address }) => address));
          done();
        });
      },
    });
    await inviteOne("a@example.com");
    await sendBy(server.port);
    expect([received, (await waiting()).map(({ attempts }) => attempts)]).toEqual([[], [1]]);
    busy = false;
    await sendBy(server.port);
    expect(received).toEqual([]);
    test.clock.advance(5 * MINUTE_MS);
    await sendBy(server.port);
    await sendBy(server.port);
    expect([received, await waiting()]).toEqual([["a@example.com"], []]);
  });

  it.each<readonly [string, (socket: Socket) => void]>([
    ["says nothing", () => undefined],
    ["says a line, and then nothing", (socket) => void socket.write("220 here\r\n")],
    ["goes away at once", (socket) => void socket.destroy()],
    ["speaks of something else", (socket) => void socket.write("HTTP/1.1 400 Bad Request\r\n\r\n")],
    ["says no", (socket) => void socket.end("554 no\r\n")],
    [
      "says a letter now and then",
      (socket) => {
        const drip = setInterval(() => socket.write("2"), 100);
        socket.on("close", () => clearInterval(drip));
      },
    ],
    [
      "answers without end",
      (socket) => {
        socket.write("220-here\r\n");
        const drip = setInterval(() => socket.write("220-and more\r\n"), 50);
        socket.on("close", () => clearInterval(drip));
      },
    ],
  ])("that %s wait, and nobody waits long for them", async (_, talk) => {
    const port = await strange(talk);
    await inviteOne("a@example.com");
    const began = performance.now();
    await sendBy(port);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect((await waiting()).map(({ to, attempts }) => [to, attempts])).toEqual([["a@example.com", 1]]);
    const good = await mailServer();
    test.clock.advance(5 * MINUTE_MS);
    await sendBy(good.port);
    expect(readers(good.received)).toEqual(["a@example.com"]);
  });

  it("are sent again with the same id if the server dies before it responds", async () => {
    const names: string[] = [];
    const port = await strange((socket) => {
      socket.write("220 here\r\n");
      let text = "";
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const [, mail] = text.split("\r\nDATA\r\n");
        if (mail === undefined) return void socket.write("250 fine\r\n");
        if (mail === "") return void socket.write("354 go on\r\n");
        if (!mail.endsWith("\r\n.\r\n")) return;
        names.push(/^Message-ID: (\S+)/m.exec(mail)?.[1] ?? "");
        socket.destroy();
      });
    });
    await inviteOne("a@example.com");
    await sendBy(port);
    test.clock.advance(5 * MINUTE_MS);
    const good = await mailServer();
    await sendBy(good.port);
    await sendBy(good.port);
    expect(names).toHaveLength(1);
    expect(good.received.map(({ text }) => /^Message-ID: (\S+)/m.exec(text)?.[1])).toEqual(names);
  });

  it("stop at the deadline, and none is lost", async () => {
    const server = await mailServer();
    for (const name of ["a", "b", "c"]) await inviteOne(`${name}@example.com`);
    await sendBy(server.port, AbortSignal.abort());
    expect([server.received, await waiting()].map(({ length }) => length)).toEqual([0, 3]);
    await sendBy(server.port);
    expect(readers(server.received)).toEqual(["a@example.com", "b@example.com", "c@example.com"]);
  });

  it("have one recipient and no injected header, with any titles and names", async () => {
    const evil = "x\r\nBcc: evil@example.com\r\nSubject: other\r\n\r\n<h1 onclick=alert(1)>hi</h1>";
    const { token } = await createToken(test.deps, { email: "ben@example.com", name: evil.slice(0, 100) });
    const { body } = await call(test.deps, make, { body: { title: evil }, token });
    const asked = { params: { id: body.id }, body: { email: "guest@example.com" }, token };
    expect((await call(test.deps, invite, asked)).status).toBe(201);
    for (const email of [
      "a@example.com\r\nBcc: e@example.com",
      "a@example.com,e@example.com",
      "<a@example.com>",
      "a@b@c.d",
    ]) {
      const { status } = await call(test.deps, invite, { params: { id: body.id }, body: { email }, token });
      expect([email, status]).toEqual([email, 400]);
    }
    const server = await mailServer();
    await sendBy(server.port);
    expect(readers(server.received)).toEqual(["guest@example.com"]);
    const text = server.received[0]?.text ?? "";
    const head = text.slice(0, text.indexOf("\r\n\r\n"));
    const names = head.split(/\r\n(?![ \t])/).map((line) => line.slice(0, line.indexOf(":")).toLowerCase());
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
    expect(names).not.toContain("bcc");
    expect(text.slice(text.indexOf("text/html"))).not.toMatch(/<h1 onclick/i);
  });
});
