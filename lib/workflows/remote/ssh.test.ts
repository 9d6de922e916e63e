import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ssh2, { type Connection, type Server, type ServerChannel } from "ssh2";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RemoteSettings } from "./machine.ts";
import { openSsh } from "./ssh.ts";

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
  publicKeyEncoding: { type: "pkcs1", format: "pem" },
});
const parsed = ssh2.utils.parseKey(privateKey);
if (parsed instanceof Error) throw parsed;
const HOST_KEY = parsed.getPublicSSH().toString("base64");

let folder: string;
let server: Server;
let port: number;
let settings: RemoteSettings;
/** Handles a command on the host. */
let onCommand: (channel: ServerChannel, connection: Connection) => void;
/** Authentication methods that the host accepts. */
let takes: ReadonlySet<string>;
let connections: Connection[];
const PASSWORD = "open sesame";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-ssh-"));
  takes = new Set(["password"]);
  connections = [];
  server = new ssh2.Server({ hostKeys: [privateKey] }, (connection) => {
    connections.push(connection);
    connection.on("error", () => undefined);
    connection.on("authentication", (context) => {
      if (!takes.has(context.method)) context.reject([...takes] as never);
      else if (context.method === "password" && context.password === PASSWORD) context.accept();
      else if (context.method === "keyboard-interactive")
        context.prompt([{ prompt: "Password: ", echo: false }], (answers) =>
          answers[0] === PASSWORD ? context.accept() : context.reject(),
        );
      else context.reject();
    });
    connection.on("session", (accept) => {
      accept().on("exec", (take) => onCommand(take(), connection));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as { port: number }).port;
  const knownHostsPath = join(folder, "known_hosts");
  await writeFile(knownHostsPath, `[127.0.0.1]:${port} ssh-rsa ${HOST_KEY}\n`);
  settings = { knownHostsPath, keysDir: folder, volumeRoots: [], hostNetwork: false, dockerHost: undefined };
});
afterEach(async () => {
  for (const connection of connections) connection.end();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  await rm(folder, { recursive: true, force: true });
});

const use = (attempt = 1, signal = new AbortController().signal) => ({
  runId: "r",
  step: "s",
  attempt,
  timeoutMs: 10_000,
  signal,
});
const open = (password: string, more = use()) =>
  openSsh({ host: "127.0.0.1", port, user: "u", password }, more, settings);
const command = (more: { timeoutMs?: number; signal?: AbortSignal } = {}) => ({
  script: "true",
  env: {},
  stdoutPath: join(folder, "out"),
  stderrPath: join(folder, "err"),
  timeoutMs: 10_000,
  signal: new AbortController().signal,
  token: "r/s/1/0",
  ...more,
});

describe("an ssh host", () => {
  it.each(["password", "keyboard-interactive"])("accepts a password, requested by %s", async (method) => {
    takes = new Set([method]);
    onCommand = (channel) => {
      channel.stdout.write("out");
      channel.stderr.write("err");
      channel.exit(4);
      channel.end();
    };
    const machine = await open(PASSWORD);
    expect(await machine.run(command())).toMatchObject({ exitCode: 4, stdoutBytes: 3, stderrBytes: 3 });
    expect(await readFile(join(folder, "out"), "utf8")).toBe("out");
    await machine.close();
  });

  it("that rejects the password", async () => {
    await expect(open("wrong")).rejects.toThrow(`127.0.0.1:${port} rejected the password of user u`);
  });

  it("that offers a key of another type than the known one has changed", async () => {
    const line = `[127.0.0.1]:${port} ssh-ed25519 ${Buffer.alloc(51, 1).toString("base64")}\n`;
    await writeFile(settings.knownHostsPath, line);
    await expect(open(PASSWORD)).rejects.toThrow(/host key of .* has changed/);
  });

  it("that disconnects during a command", async () => {
    onCommand = (channel, connection) => {
      channel.stdout.write("half");
      setImmediate(() => connection.end());
    };
    const machine = await open(PASSWORD);
    await expect(machine.run(command())).rejects.toThrow("the connection to the host was lost");
    await machine.close();
  });

  it("receives a kill request when a command times out", async () => {
    onCommand = () => undefined;
    const machine = await open(PASSWORD);
    const outcome = await machine.run(command({ timeoutMs: 100 }));
    expect(outcome).toMatchObject({ exitCode: null, timedOut: true, aborted: false });
    await machine.close();
  });

  it("receives no command after its caller has aborted", async () => {
    let asked = false;
    onCommand = (channel) => {
      asked = true;
      channel.close();
    };
    const machine = await open(PASSWORD);
    const outcome = await machine.run(command({ signal: AbortSignal.abort() }));
    expect(outcome).toMatchObject({ exitCode: null, aborted: true, timedOut: false });
    expect(asked).toBe(false);
    await machine.close();
  });

  it("first kills processes of an earlier attempt at the step", async () => {
    const inputs: string[] = [];
    onCommand = (channel) => {
      channel.once("data", (chunk: Buffer) => {
        inputs.push(chunk.toString());
        channel.exit(0);
        channel.end();
      });
    };
    const machine = await open(PASSWORD, use(3));
    await machine.run(command());
    await machine.close();
    expect(inputs).toHaveLength(2);
    expect(inputs[0]).toContain("WEFT_STEP_TOKEN=r/s/1/");
    expect(inputs[0]).toContain("WEFT_STEP_TOKEN=r/s/2/");
    expect(inputs[0]).not.toContain("WEFT_STEP_TOKEN=r/s/3/");
    expect(inputs[1]).toMatch(/^\d+\nr\/s\/1\/0\ntrue$/);
  });
});
