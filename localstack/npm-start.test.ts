import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { untilReady } from "./bundle/test-checkout.ts";

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

it("npm start ends the server if npm gets a signal", async () => {
  const env = { ...process.env, PORT: "0", WEFT_DATA_DIR: dataDir, WEFT_ACCESS_TOKEN: "" };
  npm = spawn("npm", ["start", "--silent"], { cwd: ROOT, env, detached: true });
  const { url, log, stop } = await untilReady(npm);
  expect((await fetch(url)).status).toBe(200);
  await stop();
  expect(log()).toContain('"message":"stopped"');
  await expect(fetch(url)).rejects.toThrow();
}, 30_000);
