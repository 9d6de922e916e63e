import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestServer } from "../../lib/testing/test-server.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "weft-unusual-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const pipe = (...path: string[]): void => void execFileSync("mkfifo", ["-m", "600", join(dataDir, ...path)]);

test.each(["secrets.env", "access-token", "weft.db", "lock.pid"])(
  "does not start if %s is a pipe, and names it",
  async (name) => {
    pipe(name);
    await expect(startTestServer({ dataDir })).rejects.toThrow(
      new RegExp(`did not start: .*its entry ${name} is not a regular file: remove it`, "s"),
    );
  },
);

test.runIf(process.platform === "linux")(
  "does not start if the data folder cannot be created, and names the setting",
  async () => {
    for (const path of ["/proc/x", "/proc/x/y"])
      await expect(startTestServer({ dataDir: path })).rejects.toThrow(
        /did not start: .*The data folder \/proc\/x.* cannot be used: \/proc\/x cannot be created .*WEFT_DATA_DIR/s,
      );
    await writeFile(join(dataDir, "file"), "");
    await expect(startTestServer({ dataDir: join(dataDir, "file", "below") })).rejects.toThrow(
      /did not start: .*file is not a folder: choose another folder with WEFT_DATA_DIR/s,
    );
  },
);

test("a pipe in the workflows folder does not block the other files", async () => {
  await mkdir(join(dataDir, "workflows"));
  pipe("workflows", "a-pipe.yaml");
  const yaml = "name: plain\nsteps: [{name: s, type: bash, command: 'echo fine'}]\n";
  await writeFile(join(dataDir, "workflows", "plain.yaml"), yaml);
  await using weft = await startTestServer({ dataDir });
  expect((await weft.call("GET", "/workflows/plain")).status).toBe(200);
});
