import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand, startCommand } from "../test-command.ts";

let folder: string;
let env: Record<string, string>;
let url: string;
let server: ReturnType<typeof startCommand>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-open-"));
  env = { HOME: folder };
  server = startCommand(["start", "--port", "0"], { cwd: folder, env });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  server.child.stdout?.on("data", () => {
    const found = /automation=(\S+)\/automation/.exec(server.out())?.[1];
    if (found !== undefined) resolve(found);
  });
  void server.ended.then(({ error }) => reject(new Error(error)));
  url = await promise;
});
afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.ended;
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const weft = (args: readonly string[], more: Record<string, string> = {}) =>
  runCommand(args, { cwd: folder, env: { ...env, ...more } });

/** Opens a link as a browser does, and returns the address of the user who is signed in. */
async function openLink(link: string): Promise<unknown> {
  const response = await fetch(link, { redirect: "manual" });
  const cookie = response.headers.getSetCookie().map((each) => each.split(";", 1)[0]);
  const me = await fetch(`${url}/api/v1.0/users/me/`, { headers: { cookie: cookie.join("; ") } });
  return ((await me.json()) as { email?: string }).email;
}

/** A folder with a program of this name that writes its arguments to a file, or fails. */
async function fakeProgram(name: string, script: string): Promise<string> {
  const bin = await mkdtemp(join(folder, "bin-"));
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(bin, name), 0o755);
  return `${bin}:/usr/bin:/bin`;
}

describe("weft open", () => {
  test("prints a link that signs the owner in once, if there is no browser, with --print and with --json", async () => {
    const plain = await weft(["open"]);
    expect([plain.code, plain.error]).toEqual([0, ""]);
    expect(plain.out).toMatch(new RegExp(`^${url}/login\\?token=[\\w-]{43}\n$`));
    expect(await openLink(plain.out.trim())).toBe("owner@weft.local");
    expect(await openLink(plain.out.trim())).toBeUndefined();
    const printed = await weft(["open", "--print"], { DISPLAY: ":0" });
    expect(await openLink(printed.out.trim())).toBe("owner@weft.local");
    const json = JSON.parse((await weft(["open", "--json"], { DISPLAY: ":0" })).out);
    expect(json).toEqual({
      url: expect.stringContaining("/login?token="),
      email: "owner@weft.local",
      expires_at: expect.any(String),
    });
  });

  test.skipIf(process.platform !== "linux")("opens the link in the browser of the desktop", async () => {
    const path = await fakeProgram("xdg-open", `printf '%s' "$1" > '${folder}/opened'`);
    const opened = await weft(["open"], { DISPLAY: ":0", PATH: path });
    expect([opened.code, opened.out]).toEqual([0, `Opened ${url} in the browser\n`]);
    expect(await openLink(await readFile(join(folder, "opened"), "utf8"))).toBe("owner@weft.local");
    const failing = await fakeProgram("xdg-open", "exit 3");
    expect((await weft(["open"], { DISPLAY: ":0", PATH: failing })).out).toContain(`${url}/login?token=`);
  });

  test("says what to do if no server is running", async () => {
    const { code, error } = await weft(["open", "--url", "http://127.0.0.1:9"]);
    expect([code, error]).toEqual([1, expect.stringContaining("npx weft start")]);
  });
});

describe("weft login-link", () => {
  test("prints a link for a user that exists", async () => {
    expect(await weft(["login-link", "--email", "ada@example.com"])).toMatchObject({
      code: 1,
      error: expect.stringContaining("no user has this address; create one with weft token create --email"),
    });
    await weft(["token", "create", "--email", "ada@example.com"]);
    const { code, out } = await weft(["login-link", "--email", "ada@example.com"]);
    expect(code).toBe(0);
    const page = await fetch(out.trim());
    expect(await page.text()).toContain("ada@example.com");
    expect(page.headers.getSetCookie()).toEqual([]);
    const { searchParams } = new URL(out.trim());
    const response = await fetch(`${url}/login`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ token: searchParams.get("token") ?? "" }),
    });
    expect([response.status, response.headers.getSetCookie().length]).toEqual([303, 2]);
    expect((await weft(["login-link", "--email", "x"])).code).toBe(2);
  });
});
