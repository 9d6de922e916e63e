import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeServerFile } from "../localstack/server-file.ts";
import { type CommandResult, runCommand } from "./test-command.ts";

const WEFT = fileURLToPath(new URL("./weft.js", import.meta.url));
const OLDER_NODE =
  'data:text/javascript,Object.defineProperty(process, "versions", { value: { node: "20.19.0" } })';

let folder: string;
let server: Server | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-cli-"));
});
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  server = undefined;
  await rm(folder, { recursive: true, force: true });
});

const weft = (args: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> =>
  runCommand(args, { cwd: folder, env });

/** Runs `weft` in a process of its own. */
function startWeft(
  args: readonly string[],
  env: Record<string, string> = {},
  node: readonly string[] = [],
): Promise<CommandResult> {
  const { promise, resolve } = Promise.withResolvers<CommandResult>();
  const child = spawn(process.execPath, [...node, WEFT, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let error = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    error += chunk.toString();
  });
  child.on("close", (code) => resolve({ code, out, error }));
  return promise;
}

const letters = Array.from({ length: 130 }, (_, index) => ({
  id: `id-${index}`,
  queue: "bash",
  error: "no\u001b[31m\nluck",
  body: "{}",
  received_at: "2026-01-01T00:00:00Z",
}));

/** Starts a server with dead letters; `log` records its requests. */
async function serve(log: string[]): Promise<string> {
  server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? "/", "http://localhost");
    log.push(`${incoming.method} ${url.pathname} ${incoming.headers.authorization}`);
    const answer = (status: number, body: unknown) =>
      outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (incoming.headers.authorization !== "Bearer t0ken") {
      answer(401, { error: true, message: "Invalid token" });
    } else if (incoming.method === "GET") {
      const offset = Number(url.searchParams.get("offset") ?? 0);
      const limit = Number(url.searchParams.get("limit") ?? 20);
      const data = letters.slice(offset, offset + limit);
      answer(200, { data, pagination: { total: letters.length, offset, limit } });
    } else if (url.pathname === "/automation/dead-letters/id-7/redrive") {
      answer(404, { error: true, message: "No such dead letter" });
    } else answer(200, {});
  }).listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => server?.once("listening", () => resolve()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("lists its commands, and prints the help of each with examples", async () => {
  const all = await startWeft([]);
  expect([all.code, all.error]).toEqual([0, ""]);
  for (const name of ["start", "token", "dead-letters", "help", "version"]) {
    expect(all.out).toContain(name);
    const asked = await weft([name, "--help"]);
    expect([asked.code, asked.out]).toEqual([0, expect.stringContaining(`weft ${name}`)]);
    expect(asked.out).toContain("Examples");
    expect((await weft(["help", name])).out).toBe(asked.out);
  }
});

test("prints colors in its help only if requested", async () => {
  expect((await startWeft(["help"])).out).not.toContain("\u001b[");
  expect((await startWeft(["help"], { FORCE_COLOR: "1" })).out).toContain("\u001b[1m");
  expect((await startWeft(["help"], { NO_COLOR: "1" })).out).not.toContain("\u001b[");
});

test.each([
  ["nothing"],
  ["--nothing"],
  ["help", "nothing"],
  ["token", "--nothing"],
  ["start", "--port", "x"],
  ["start", "--port", "70000"],
  ["start", "now"],
  ["dead-letters", "burn"],
  ["dead-letters", "redrive"],
  ["dead-letters", "redrive", "a", "--all"],
  ["dead-letters", "list", "a"],
  ["dead-letters", "--limit", "-"],
])("exits with 2 for 'weft %s %s %s'", async (...args) => {
  const { code, out, error } = await weft(args, { WEFT_ACCESS_TOKEN: "t" });
  expect([code, out]).toEqual([2, ""]);
  expect(error).toMatch(/^weft: .*\nTry: weft help/);
});

test("prints the environment's token, else the data folder's", async () => {
  await writeFile(join(folder, "access-token"), "from-file\n", { mode: 0o600 });
  expect(await startWeft(["token", "--data-dir", folder])).toEqual({
    code: 0,
    out: "from-file\n",
    error: "",
  });
  const json = await weft(["token", "--json"], { WEFT_DATA_DIR: folder });
  expect(JSON.parse(json.out)).toEqual({ token: "from-file", source: join(folder, "access-token") });
  expect((await weft(["token"], { WEFT_ACCESS_TOKEN: "set", WEFT_DATA_DIR: folder })).out).toBe("set\n");
});

test("says how to create a token if there is none", async () => {
  const { code, out, error } = await startWeft(["token"]);
  expect([code, out]).toEqual([1, ""]);
  expect(error).toContain("npx weft start");
});

test("prints its version, also when started with an older Node", async () => {
  const own = await startWeft(["version", "--json"]);
  expect(JSON.parse(own.out)).toMatchObject({ weft: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
  const older = await startWeft(["version", "--json"], {}, ["--import", OLDER_NODE]);
  expect([older.code, JSON.parse(older.out).node.split(".")[0]]).toEqual([0, "24"]);
  expect((await startWeft(["nothing"], {}, ["--import", OLDER_NODE])).code).toBe(2);
});

test("lists dead letters of the data folder's server, without escape sequences", async () => {
  const log: string[] = [];
  await writeFile(join(folder, "access-token"), "t0ken\n");
  writeServerFile(folder, { url: await serve(log), pid: 1 });
  const { code, out, error } = await startWeft(["dead-letters", "--limit", "2"], { WEFT_DATA_DIR: folder });
  expect([code, error]).toEqual([0, "2 of 130\n"]);
  expect(out.split("\n")).toEqual([
    "2026-01-01T00:00:00Z  id-0  bash  no [31m luck",
    "2026-01-01T00:00:00Z  id-1  bash  no [31m luck",
    "",
  ]);
  expect(log).toEqual(["GET /automation/dead-letters Bearer t0ken"]);
  const json = await weft(["dead-letters", "--json", "--offset", "129"], { WEFT_DATA_DIR: folder });
  expect(JSON.parse(json.out).data).toEqual([letters[129]]);
});

test("redrives one dead letter, or all", async () => {
  const log: string[] = [];
  const env = { WEFT_URL: `${await serve(log)}/`, WEFT_ACCESS_TOKEN: "t0ken" };
  expect(await weft(["dead-letters", "redrive", "a/b"], env)).toEqual({
    code: 0,
    out: "redriven a/b\n",
    error: "",
  });
  expect(log).toEqual(["POST /automation/dead-letters/a%2Fb/redrive Bearer t0ken"]);
  const all = await weft(["dead-letters", "redrive", "--all", "--json"], env);
  expect(all.code).toBe(1);
  const { redriven, failed } = JSON.parse(all.out);
  expect(redriven).toHaveLength(129);
  expect(failed).toEqual([{ id: "id-7", error: "The server returned 404: No such dead letter" }]);
});

test("distinguishes a wrong token from a server that does not respond", async () => {
  const url = await serve([]);
  const wrong = await weft(["dead-letters"], { WEFT_URL: url, WEFT_ACCESS_TOKEN: "wrong" });
  expect([wrong.code, wrong.error]).toEqual([1, expect.stringContaining("Invalid token")]);
  expect(wrong.error).toContain("WEFT_ACCESS_TOKEN");
  await new Promise<void>((resolve) => server?.close(() => resolve()));
  const gone = await weft(["dead-letters"], { WEFT_URL: url, WEFT_ACCESS_TOKEN: "t0ken" });
  expect([gone.code, gone.error]).toEqual([1, expect.stringContaining("does not respond")]);
  server = undefined;
});
