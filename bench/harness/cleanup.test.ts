import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, it } from "vitest";

const CLEANUP = new URL("./cleanup.ts", import.meta.url).href;

/** Runs a program that prints the path of its temporary folder and then executes `ending`. */
async function folderOf(ending: string): Promise<{ folder: string; ended: Promise<unknown> }> {
  const code = `
    import { cleanUpOnExit, createTemporaryFolder } from ${JSON.stringify(CLEANUP)};
    cleanUpOnExit();
    process.stdout.write(createTemporaryFolder("test"), () => { ${ending} });
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "close");
  return { folder: String((await once(child.stdout, "data"))[0]), ended };
}

it.each([
  ["an uncaught error", "throw new Error('no')"],
  ["an exit", "process.exit(3)"],
  ["a signal", "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)"],
])("no folder outlives %s", async (_, ending) => {
  const { folder, ended } = await folderOf(ending);
  expect(folder).toContain("weft-bench-test-");
  await ended;
  expect(existsSync(folder)).toBe(false);
});
