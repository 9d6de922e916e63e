import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

let dataDir: string;
let npm: ChildProcess;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "weft-npm-start-"));
});
afterEach(() => {
  try {
    // Its group: what npm would have left behind, too.
    process.kill(-(npm.pid ?? 0), "SIGKILL");
  } catch {
    // Nothing is left.
  }
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
});

it("npm start ends the server when npm is told to end", async () => {
  const env = { ...process.env, PORT: "0", WEFT_DATA_DIR: dataDir, WEFT_ACCESS_TOKEN: "" };
  npm = spawn("npm", ["start", "--silent"], { cwd: ROOT, env, detached: true });
  let log = "";
  npm.stderr?.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  const closed = new Promise((resolve) => npm.once("close", resolve));
  const health = await new Promise<string>((resolve, reject) => {
    let out = "";
    npm.stdout?.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      const found = / health=(\S+)/.exec(out)?.[1];
      if (found !== undefined) resolve(found);
    });
    npm.once("close", () => reject(new Error(`it did not start: ${log}`)));
  });
  expect((await fetch(health)).status).toBe(200);
  npm.kill("SIGTERM");
  await closed;
  expect(log).toContain('"message":"stopped"');
  await expect(fetch(health)).rejects.toThrow();
}, 30_000);
