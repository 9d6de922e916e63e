import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readServerFile } from "./server-file.ts";

const SERVER = fileURLToPath(new URL("./server.ts", import.meta.url));

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-server-"));
});
afterEach(async () => {
  for (const { child, ended } of programs.splice(0)) {
    child.kill("SIGKILL");
    await ended;
  }
  await rm(folder, { recursive: true, force: true });
});

interface Program {
  readonly child: ChildProcess;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  readonly text: { out: string; error: string };
  /** Resolves when the program has written that, or ended. */
  seen(stream: "out" | "error", pattern: RegExp): Promise<void>;
}

const programs: Program[] = [];

function start(env: Record<string, string> = {}): Program {
  const child = spawn(process.execPath, [SERVER], {
    cwd: folder,
    env: { ...process.env, PORT: "0", WEFT_DATA_DIR: join(folder, "data"), WEFT_ACCESS_TOKEN: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const text = { out: "", error: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    text.out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    text.error += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const seen: Program["seen"] = (stream, pattern) =>
    new Promise((resolve) => {
      const source = stream === "out" ? child.stdout : child.stderr;
      const look = () => pattern.test(text[stream]) && resolve();
      source.on("data", look);
      child.once("close", () => resolve());
      look();
    });
  const program = { child, ended, text, seen };
  programs.push(program);
  return program;
}

async function ready(program: Program): Promise<URL> {
  await program.seen("out", /\n/);
  const health = / health=(\S+)/.exec(program.text.out)?.[1];
  if (health === undefined) throw new Error(`not ready: ${program.text.error}`);
  return new URL(health);
}

test("prints its URLs and the path of the token, serves, drains on SIGTERM and exits with 0", async () => {
  const program = start();
  const health = await ready(program);
  expect(program.text.out).toMatch(
    /^weft ready {2}automation=http:\/\/127\.0\.0\.1:\d+\/automation {2}health=http:\/\/127\.0\.0\.1:\d+\/health {2}token=data\/access-token\n/,
  );
  expect(await (await fetch(health)).json()).toEqual({ status: "ok" });
  expect((await stat(join(folder, "data", "access-token"))).mode & 0o777).toBe(0o600);
  expect(readServerFile(join(folder, "data"))).toEqual({ url: health.origin, pid: program.child.pid });
  program.child.kill("SIGTERM");
  expect(await program.ended).toBe(0);
  expect(readServerFile(join(folder, "data"))).toBeUndefined();
  for (const line of program.text.error.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
});

test("prints the name of the variable if the token is in the environment", async () => {
  const program = start({ WEFT_ACCESS_TOKEN: "0123456789abcdef-test" });
  await ready(program);
  expect(program.text.out).toMatch(/token=WEFT_ACCESS_TOKEN\n/);
  expect(program.text.out + program.text.error).not.toContain("0123456789abcdef-test");
});

test("rejects a port in use, a data folder in use and an invalid setting, each with a clear message", async () => {
  const first = await ready(start());
  const samePort = start({ PORT: first.port, WEFT_DATA_DIR: join(folder, "other") });
  expect([await samePort.ended, samePort.text.out]).toEqual([1, ""]);
  expect(samePort.text.error).toContain(`weft: Port ${first.port} on 127.0.0.1 is in use`);
  const sameFolder = start();
  expect([await sameFolder.ended, sameFolder.text.out]).toEqual([1, ""]);
  expect(sameFolder.text.error).toContain("is in use by another Weft");
  const wrong = start({ PORT: "many" });
  expect([await wrong.ended, wrong.text.error]).toEqual([1, expect.stringContaining("PORT: must be a port")]);
  expect((await fetch(first)).status).toBe(200);
});

test("a second SIGINT ends it at once, a repetition by npm does not", async () => {
  const program = start();
  const health = await ready(program);
  const half = connect(Number(health.port), "127.0.0.1", () => half.write("GET /health HTTP/1.1\r\nHo"));
  half.on("error", () => {});
  await fetch(health);
  program.child.kill("SIGINT");
  program.child.kill("SIGINT");
  await program.seen("error", /"stopping"/);
  await delay(300);
  expect(program.child.exitCode).toBeNull();
  program.child.kill("SIGINT");
  expect(await program.ended).toBe(130);
  half.destroy();
});

test("reports that it is ready once all workflows are loaded and all triggers are active", async () => {
  const workflows = join(folder, "data", "workflows");
  await mkdir(workflows, { recursive: true, mode: 0o700 });
  await chmod(join(folder, "data"), 0o700);
  const triggers = [
    "type: cron, schedule: '0 0 * * *'",
    "type: event, topic: custom.x",
    "type: watch, path: in",
  ];
  const names = Array.from({ length: 60 }, (_, at) => `w${at}`);
  for (const [at, name] of names.entries())
    await writeFile(
      join(workflows, `${name}.yaml`),
      `name: ${name}\ntriggers: [{${triggers[at % 3]}}]\nsteps: [{name: s, type: bash, command: ls}]\n`,
    );
  const port = await freePort();
  const headers = { authorization: "Bearer ready-test-token-1" };
  const program = start({ PORT: String(port), WEFT_ACCESS_TOKEN: "ready-test-token-1" });
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { headers }).catch(() => undefined);
  const statuses = new Set<number | undefined>();
  for (let status: number | undefined; status !== 200; ) {
    status = (await ask("/health/ready"))?.status;
    statuses.add(status);
    if (program.child.exitCode !== null) throw new Error(program.text.error);
  }
  const [last, receiver] = await Promise.all([
    ask(`/automation/workflows/${names.at(-1)}`),
    ask("/automation/event-receiver/status").then((response) => response?.json()),
  ]);
  expect(last?.status).toBe(200);
  expect(receiver).toMatchObject({ workflows_loaded: 60, triggers: { cron: 20, event: 20, watch: 20 } });
  expect(statuses).toEqual(new Set([undefined, 503, 200]));
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

test("removes unfinished snapshots of a killed process", async () => {
  const left = join(folder, "data", "snapshots-unfinished", "snapshot-abc");
  await mkdir(join(left, "content"), { recursive: true });
  await writeFile(join(left, "content", "a"), "a");
  const { seen } = start();
  await seen("out", /weft ready/);
  await expect(stat(left)).rejects.toMatchObject({ code: "ENOENT" });
});

/** The login link that a program has printed. */
async function printedLink(program: Program): Promise<string> {
  await program.seen("out", /sign in once at \S+\n/);
  return /sign in once at (\S+)\n/.exec(program.text.out)?.[1] ?? "";
}

test("prints a link that signs the owner in once; the session survives a kill, and the next start prints another", async () => {
  const env = { PORT: String(await freePort()) };
  const first = start(env);
  const { origin } = await ready(first);
  const link = await printedLink(first);
  expect(link).toMatch(new RegExp(`^${origin}/login\\?token=[\\w-]{43}$`));
  expect((await fetch(link, { method: "HEAD" })).status).toBe(200);
  const response = await fetch(link, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([303, "/"]);
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(";", 1)[0] ?? "");
  expect((await fetch(link)).status).toBe(403);
  const email = async () => {
    const answer = await fetch(`${origin}/api/v1.0/users/me/`, { headers: { cookie: cookies.join("; ") } });
    return ((await answer.json()) as { email?: string }).email;
  };
  expect(await email()).toBe("owner@weft.local");

  first.child.kill("SIGKILL");
  await first.ended;
  const second = start(env);
  await ready(second);
  const next = await printedLink(second);
  expect(await email()).toBe("owner@weft.local");

  second.child.kill("SIGKILL");
  await second.ended;
  const third = start(env);
  await ready(third);
  await printedLink(third);
  expect((await fetch(next)).status).toBe(403);
  // Neither a link nor a session is in the log.
  const secrets = [link, next].map((text) => new URL(text).searchParams.get("token") ?? "");
  for (const secret of [...secrets, ...cookies.map((cookie) => cookie.split("=")[1] ?? "")])
    for (const { text } of [first, second, third]) expect(text.error).not.toContain(secret);
});

test("prints no login link if users sign in at an identity provider", async () => {
  const program = start({ OIDC_OP_URL: "https://login.example.org", OIDC_RP_CLIENT_ID: "weft" });
  await ready(program);
  program.child.kill("SIGTERM");
  await program.ended;
  expect(program.text.out).not.toContain("/login");
});
