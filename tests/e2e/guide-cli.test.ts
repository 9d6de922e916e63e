import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer } from "../../lib/testing/test-server.ts";

const WEFT = fileURLToPath(new URL("../../bin/weft.js", import.meta.url));

let folder: string;
let sections: readonly string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-guide-"));
  const guide = await readFile(new URL("../../docs/cli.md", import.meta.url), "utf8");
  sections = guide.split(/^## /m);
  const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(guide) ?? [];
  await mkdir(join(folder, "bin"));
  await mkdir(join(folder, "tmp"));
  await mkdir(join(folder, "here"));
  await writeFile(join(folder, "here", "greet.yaml"), yaml);
  await writeFile(join(folder, "bin", "weft"), `#!/bin/sh\nexec "${process.execPath}" "${WEFT}" "$@"\n`);
  await chmod(join(folder, "bin", "weft"), 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the commands of a section in bash. Returns standard output. */
async function follow(title: string, env: Record<string, string>): Promise<string> {
  const section = sections.find((each) => each.startsWith(`${title}\n`)) ?? "";
  const [, commands = ""] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];
  expect(commands).toContain("weft ");
  const PATH = `${join(folder, "bin")}:${process.env.PATH}`;
  const { stdout } = await promisify(execFile)("bash", ["-ec", commands], {
    cwd: join(folder, "here"),
    env: { PATH, TMPDIR: join(folder, "tmp"), PORT: "9", ...env },
  });
  return stdout;
}

test("the guide's first run works without a server and leaves no other files", async () => {
  const out = await follow("A first run", {});
  expect(out).toMatch(
    /^greet\.yaml: valid module greet\ngreet {2}run \S+\n {2}✓ say [^\n]*\n {6}welcome example\.com\n/,
  );
  expect([await readdir(join(folder, "here")), await readdir(join(folder, "tmp"))]).toEqual([
    ["greet.yaml"],
    [],
  ]);
});

test("the guide's commands for a server work", async () => {
  await using weft = await startTestServer();
  const out = await follow("With a server", { WEFT_DATA_DIR: weft.dataDir });
  expect(out).toMatch(/^saved module greet, revision 1\n/);
  expect(out).toMatch(/custom\.greeted .*\{"who":"a\.example"\}/);
});
