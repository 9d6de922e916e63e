import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDataFolder } from "../../lib/app/cli.ts";
import { RELEASE_KEY, releaseTable } from "../../lib/upgrades/release-state.ts";
import { type CommandResult, type RunningCommand, runCommand, startCommand } from "../test-command.ts";

const SECOND_MS = 1_000;
const DAY_MS = 86_400 * SECOND_MS;

let folder: string;
let server: RunningCommand | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-token-"));
  await mkdir(join(folder, ".weft"));
});
afterEach(async () => {
  server?.child.kill("SIGTERM");
  await server?.ended;
  server = undefined;
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const weft = (...args: string[]): Promise<CommandResult> =>
  runCommand(args, { cwd: folder, env: { HOME: folder } });
const json = async (...args: string[]) => JSON.parse((await weft(...args, "--json")).out);

/** Its address. */
async function startServer(): Promise<string> {
  const running = startCommand(["start", "--port", "0"], { cwd: folder, env: { HOME: folder } });
  server = running;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  running.child.stdout?.on("data", () => {
    const url = /automation=(\S+)\/automation/.exec(running.out())?.[1];
    if (url !== undefined) resolve(url);
  });
  void running.ended.then(({ error }) => reject(new Error(error)));
  return promise;
}

const who = async (url: string, token: string, path = "/api/v1.0/users/me/") => {
  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

const ask = async (url: string, token: string, path: string, body: object) => {
  const answer = await fetch(`${url}/api/v1.0${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(201);
  return (await answer.json()) as { id: string };
};

describe("users' tokens", () => {
  test("are created in the data folder without a server, and work with a server", async () => {
    const made = await weft("token", "create", "--email", "ada@example.com", "--name", "Ada Lovelace");
    expect([made.code, made.error]).toEqual([0, ""]);
    expect(made.out).toMatch(/^weft_[\w-]{43}\n$/);
    const early = await json("token", "create", "--email", "ada@example.com", "--scope", "documents");
    expect(early.data).toMatchObject({ email: "ada@example.com", scopes: ["documents"], expires_at: null });
    const { data } = await json("token", "list");
    expect(data).toEqual([expect.objectContaining({ name: "Ada Lovelace" }), early.data]);
    expect((await weft("token", "revoke", data[0].id)).out).toBe(`revoked ${data[0].id}\n`);
    expect(await weft("token", "revoke", data[0].id)).toEqual({
      code: 1,
      out: "",
      error: "weft: Token not found\n",
    });

    const url = await startServer();
    expect((await who(url, made.out.trim())).status).toBe(401);
    expect(await who(url, early.token)).toMatchObject({ status: 200, body: { full_name: "Ada Lovelace" } });
    expect((await who(url, early.token, "/automation/runs")).status).toBe(403);
  });

  test("are created, listed and revoked through a running server", async () => {
    const url = await startServer();
    const before = Date.now();
    const made = await json("token", "create", "--email", "bob@example.com", "--expires", "30d");
    expect(Date.parse(made.data.expires_at) - before).toBeGreaterThanOrEqual(30 * DAY_MS);
    expect(Date.parse(made.data.expires_at) - before).toBeLessThan(30 * DAY_MS + 60 * SECOND_MS);
    expect(await who(url, made.token)).toMatchObject({ status: 200, body: { email: "bob@example.com" } });
    const listed = await weft("token", "list");
    expect([listed.code, listed.error]).toEqual([0, "1 of 1\n"]);
    expect(listed.out).toMatch(/^ID +EMAIL .*\n\S{36} {2}bob@example\.com .*automation, documents/);
    expect(listed.out).not.toContain(made.token);
    // A user's token makes no others.
    const refused = await weft("token", "list", "--url", url, "--token", made.token);
    expect([refused.code, refused.error]).toEqual([
      1,
      "weft: The server returned 403: You do not have permission to perform this action.\n",
    ]);
    expect(await json("token", "revoke", made.data.id)).toEqual({ revoked: made.data.id });
    expect((await who(url, made.token)).status).toBe(401);
  });

  test("grant access to earlier invitations, also after the server was killed", async () => {
    const url = await startServer();
    const own = await json("token");
    const { id } = await ask(url, own.token, "/documents/", { title: "Plans" });
    const invited = { email: "Ada@example.com", role: "editor" };
    await ask(url, own.token, `/documents/${id}/invitations/`, invited);
    server?.child.kill("SIGKILL");
    await server?.ended;

    const made = await json("token", "create", "--email", "ada@example.com", "--name", "Ada");
    expect(made.data).toMatchObject({ email: "ada@example.com", scopes: ["automation", "documents"] });
    expect((await json("token", "list")).data).toEqual([made.data]);
    const again = await startServer();
    const found = await who(again, made.token, `/api/v1.0/documents/${id}/`);
    expect(found).toMatchObject({ status: 200, body: { title: "Plans", user_role: "editor" } });
    const mine = await who(again, made.token, "/api/v1.0/documents/");
    expect(mine.body).toMatchObject({ count: 1, results: [{ id, user_role: "editor" }] });
    const left = await who(again, own.token, `/api/v1.0/documents/${id}/invitations/`);
    expect(left.body).toMatchObject({ count: 0 });
    // The same through the server.
    await ask(again, own.token, `/documents/${id}/invitations/`, { email: "bo@example.com", role: "reader" });
    const bo = await json("token", "create", "--email", "bo@example.com");
    expect((await who(again, bo.token, `/api/v1.0/documents/${id}/`)).status).toBe(200);
  });

  test("are not created in a data folder that is in use or has another release", async () => {
    const dataDir = join(folder, ".weft");
    const { deps, close } = await openDataFolder(dataDir);
    const taken = await weft("token", "list");
    expect([taken.code, taken.out]).toEqual([1, ""]);
    expect(taken.error).toMatch(/^weft: .*\n.*name the server with --url and --token\.\n$/);
    await deps.tables.update(releaseTable, RELEASE_KEY, { set: { release: "4.8.6" } });
    await close();
    const older = await weft("token", "create", "--email", "ada@example.com");
    expect(older).toEqual({
      code: 1,
      out: "",
      error:
        "weft: The stored data is of release 4.8.6 and this is 5.0.0: start a server of this release on it once, which migrates it.\n",
    });
    await startServer();
    expect((await weft("token", "create", "--email", "ada@example.com")).code).toBe(0);
  });

  test("require a server or a data folder", async () => {
    const named = await weft("token", "list", "--url", "http://127.0.0.1:9", "--token", "t0ken");
    expect([named.code, named.error]).toEqual([1, expect.stringContaining("Weft does not respond")]);
    const nowhere = await weft("token", "list", "--data-dir", "elsewhere");
    expect([nowhere.code, nowhere.error]).toEqual([1, expect.stringContaining("There is no access token")]);
  });
});
