import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";

const GUARD = new URL("./end-with-parent.ts", import.meta.url).href;
const BUSY = `import { endWithParent } from ${JSON.stringify(GUARD)};
endWithParent();
setTimeout(() => { console.log(process.pid); setTimeout(() => { for (;;); }, 50); }, 50);`;
const PARENT = `import { spawn } from "node:child_process";
spawn(process.execPath, ["--input-type=module", "-e", ${JSON.stringify(BUSY)}], { stdio: ["ignore", "inherit", "inherit"] });
setInterval(() => undefined, 1000);`;

const lives = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it("a busy process ends soon after its parent was killed", async () => {
  const parent = spawn(process.execPath, ["--input-type=module", "-e", PARENT], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [told] = await once(parent.stdout, "data");
  const pid = Number(String(told));
  expect(lives(pid)).toBe(true);
  parent.kill("SIGKILL");
  await expect.poll(() => lives(pid), { timeout: 20_000, interval: 100 }).toBe(false);
}, 40_000);
