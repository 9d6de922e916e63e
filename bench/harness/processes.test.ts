import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cpuMs, memoryOf, openFilesOf, peakOf, programsOf, treeOf, untilQuiet } from "./processes.ts";

const MB = 60;
// Uses memory and CPU time, starts a child that does the same, and is then idle.
const WORK = `
const held = Buffer.alloc(${MB} * 1024 * 1024, 1);
while (process.cpuUsage().user < 350_000);
process.stdout.write("done" + held.length);
setInterval(() => {}, 1000);
`;
const PARENT = `
const { spawn } = require("node:child_process");
const child = spawn(process.execPath, ["-e", ${JSON.stringify(WORK)}], { stdio: ["ignore", "inherit", "inherit"] });
process.on("exit", () => child.kill());
process.on("SIGTERM", () => process.exit());
`;

describe.runIf(process.platform === "linux")("processes", () => {
  const parent = spawn(process.execPath, ["-e", PARENT], { stdio: ["ignore", "pipe", "inherit"] });
  beforeAll(async () => {
    await once(parent.stdout, "data");
  });
  afterAll(() => void parent.kill());

  it("are found with their descendants, and CPU time and memory are summed", async () => {
    const root = parent.pid ?? 0;
    expect(treeOf(root)).toHaveLength(2);
    expect(cpuMs(root)).toBeGreaterThanOrEqual(300);
    const { processes, mb, rssMb } = memoryOf(root);
    expect(processes).toBe(2);
    expect(mb).toBeGreaterThan(MB);
    // Both processes map the same program.
    expect(rssMb).toBeGreaterThan(mb);
    expect(openFilesOf(treeOf(root))).toBeGreaterThan(6);
    expect(await untilQuiet(root, 20_000)).toBeLessThanOrEqual(performance.now());
  });

  it("are distinguished from those of another program", async () => {
    const shell = spawn("bash", [
      "-c",
      `"${process.execPath}" -e 'console.log(1); setInterval(() => {}, 1000)'; :`,
    ]);
    await once(shell.stdout, "data");
    const [root = 0, below = 0] = treeOf(shell.pid ?? 0);
    expect(programsOf(root)).toEqual([root]);
    expect(programsOf(below)).toEqual([below]);
    process.kill(below);
    await once(shell, "close");
  });

  it("have a peak above the memory before, reported once", async () => {
    const code = `process.stdin.on("data", () => { Buffer.alloc(${MB * 1024 * 1024}, 1); console.log("done"); })`;
    const child = spawn(process.execPath, ["-e", code]);
    const work = async (): Promise<void> => {
      child.stdin.write("\n");
      await once(child.stdout, "data");
    };
    const root = child.pid ?? 0;
    const warm = peakOf(root);
    await work();
    expect(warm()).toBeGreaterThan(MB);
    const idle = peakOf(root);
    expect(idle()).toBeLessThan(MB / 2);
    child.kill("SIGKILL");
    await once(child, "close");
  });

  it("that have ended have no open files", () => {
    expect(openFilesOf([2 ** 30])).toBe(0);
    expect(memoryOf(2 ** 30)).toEqual({ processes: 0, mb: 0, rssMb: 0 });
  });
});
