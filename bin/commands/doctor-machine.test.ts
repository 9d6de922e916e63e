import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { startTestDocspec } from "../../lib/testing/test-docspec.ts";
import { writeServerFile } from "../../localstack/server-file.ts";
import { type Check, checkMachine } from "./doctor-machine.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-doctor-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The checks by name, on a port that is free and with no server unless the environment says otherwise. */
async function examine(
  env: Record<string, string> = {},
  dataDir = folder,
): Promise<Record<string, Check | undefined>> {
  const path = process.env.PATH ?? "";
  const checks = await checkMachine({ PATH: path, HOST: "127.0.0.1", PORT: "0", ...env }, dataDir);
  return Object.fromEntries(checks.map((check) => [check.name, check]));
}

/** An HTTP server that answers every request with a status. */
async function answering(status: number): Promise<{ url: string; port: number }> {
  const server = createServer((_, outgoing) => outgoing.writeHead(status).end()).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port };
}

test("a machine before the first start is well", async () => {
  const { node, bash, folder: data, token, port } = await examine({}, join(folder, "not", "yet"));
  expect([node, bash, data, token, port].map((check) => check?.level)).toEqual([
    "ok",
    "ok",
    "ok",
    "ok",
    "ok",
  ]);
  expect(data?.text).toContain("is created by the first start");
});

test("says which scripts have no font for PDFs, and what to do", async () => {
  const { fonts } = await examine();
  if (fonts?.level === "ok") expect(fonts.text).toContain("Latin, Greek, Cyrillic, CJK, Arabic and emoji");
  else {
    expect(fonts).toMatchObject({ level: "warn", hint: expect.stringContaining("fonts-noto-cjk") });
    // Typst itself contains these.
    expect(fonts?.text).not.toMatch(/Latin|Greek|Cyrillic/);
  }
});

test("warns if bash is missing", async () => {
  expect((await examine({ PATH: folder })).bash).toMatchObject({ level: "warn", hint: "install bash" });
});

test("a data folder that is a file or is below one fails; one that others can read is a warning", async () => {
  const file = join(folder, "file");
  await writeFile(file, "");
  expect((await examine({}, file)).folder).toMatchObject({ level: "fail", text: `${file} is not a folder` });
  expect((await examine({}, join(file, "data"))).folder?.level).toBe("fail");
  await chmod(folder, 0o755);
  expect((await examine()).folder).toMatchObject({ level: "warn", hint: `chmod 700 ${folder}` });
});

test("token and secrets must be readable only by their owner", async () => {
  for (const [name, check] of [
    ["access-token", "token"],
    ["secrets.env", "secrets"],
  ] as const) {
    const path = join(folder, name);
    await writeFile(path, "x", { mode: 0o600 });
    expect((await examine())[check]).toMatchObject({ level: "ok", text: `${path} (0600)` });
    await chmod(path, 0o640);
    expect((await examine())[check]).toMatchObject({ level: "fail", hint: `chmod 600 ${path}` });
  }
});

test("checks the health of the data folder's server", async () => {
  const up = await answering(200);
  writeServerFile(folder, { url: up.url, pid: process.pid });
  expect(await examine()).toMatchObject({
    server: { level: "ok" },
    port: { level: "ok", text: "in use by the server" },
  });
  const unhealthy = await answering(503);
  writeServerFile(folder, { url: unhealthy.url, pid: process.pid });
  expect((await examine()).server).toMatchObject({ level: "fail", text: expect.stringContaining("503") });
});

test("a server that does not respond is a failure if its process exists, else a warning", async () => {
  writeServerFile(folder, { url: "http://127.0.0.1:1", pid: process.pid });
  expect((await examine()).server).toMatchObject({
    level: "fail",
    text: expect.stringContaining(`${process.pid}`),
  });
  // No process has so large an id.
  writeServerFile(folder, { url: "http://127.0.0.1:1", pid: 2 ** 30 });
  expect((await examine()).server).toMatchObject({ level: "warn", hint: "start it with: npx weft start" });
});

test("a port that is in use fails, also if the server of another data folder uses it", async () => {
  const { port } = await answering(200);
  const { server, port: found } = await examine({ PORT: String(port) });
  expect(server).toMatchObject({ level: "warn", text: expect.stringContaining("another data folder") });
  expect(found).toMatchObject({ level: "fail", text: expect.stringContaining("EADDRINUSE") });
  expect((await examine({ PORT: String(port), WEFT_URL: `http://127.0.0.1:${port}` })).server?.level).toBe(
    "ok",
  );
});

test("settings that the server would refuse fail", async () => {
  expect((await examine({ WEFT_ACCESS_TOKEN: "short" })).port).toMatchObject({
    level: "fail",
    text: expect.stringContaining("WEFT_ACCESS_TOKEN"),
  });
});

/** A server whose readiness check says this about it; it accepts WebSockets or not. */
async function serverWith(collaboration: object, acceptsSockets = true): Promise<void> {
  const http = createServer((_, outgoing) => outgoing.end(JSON.stringify({ collaboration })));
  const sockets = new WebSocketServer({ noServer: true });
  http.on("upgrade", (request, socket, head) => {
    if (acceptsSockets) sockets.handleUpgrade(request, socket, head, () => {});
    else socket.destroy();
  });
  http.listen(0, "127.0.0.1");
  await new Promise((resolve) => http.once("listening", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  writeServerFile(folder, { url: `http://127.0.0.1:${port}`, pid: process.pid });
}

test("the collaboration server is reported as reachable if its WebSocket opens, and else with a hint about proxies", async () => {
  expect((await examine()).collaboration).toMatchObject({ level: "ok", text: "starts with the server" });
  await serverWith({ status: "ok", rooms: 0, connections: 0 });
  expect((await examine()).collaboration).toMatchObject({
    level: "ok",
    text: expect.stringContaining("accepts connections"),
  });
  await serverWith({ status: "ok", rooms: 0, connections: 0 }, false);
  expect((await examine()).collaboration).toMatchObject({
    level: "warn",
    hint: expect.stringContaining("upgrade requests"),
  });
});

test("the collaboration server is reported with the advice of the running server", async () => {
  await serverWith({ status: "unavailable", advice: "It does not respond: start it." });
  expect((await examine()).collaboration).toMatchObject({
    level: "fail",
    text: "It does not respond",
    hint: "start it.",
  });
});

test("the collaboration server of the settings is asked while no server runs", async () => {
  const { url } = await answering(401);
  const settings = {
    COLLABORATION_API_URL: `${url}/collaboration/api/`,
    COLLABORATION_SERVER_SECRET: "one",
  };
  expect((await examine(settings)).collaboration).toMatchObject({
    level: "fail",
    hint: "set the same secret in both.",
  });
});

test("the server of DOCSPEC_API_URL is reported with its version, and only if it is set", async () => {
  expect((await examine()).conversion).toBeUndefined();
  await using docspec = await startTestDocspec([]);
  expect((await examine({ DOCSPEC_API_URL: docspec.url })).conversion).toMatchObject({
    level: "ok",
    text: expect.stringContaining("3.0.0"),
  });
  docspec.setVersion(2);
  expect((await examine({ DOCSPEC_API_URL: docspec.url })).conversion).toMatchObject({
    level: "fail",
    text: expect.stringContaining("before 3.0.0"),
    hint: "upgrade DocSpec to 3.0.0 or newer.",
  });
});
