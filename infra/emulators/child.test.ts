import { describe, expect, it } from "vitest";
import { startEmulator } from "./child.ts";

const start = (program: string) => startEmulator("test", process.execPath, ["-e", program], ".");

describe("startEmulator", () => {
  it("returns the URL of a program that listens, and stops it", async () => {
    const emulator = await start(
      "console.log('warming up'); console.log('listening 4321'); process.stdin.on('end', () => process.exit(0)).resume()",
    );
    expect(emulator.url).toBe("http://127.0.0.1:4321");
    await emulator.stop();
    await emulator.stop();
  });

  it("rejects with the program's output if it exits before it listens", async () => {
    const starting = start("console.error('no port is free'); process.exit(3)");
    await expect(starting).rejects.toThrow(/test did not start: no port is free/);
  });

  it("rejects if the program does not exist", async () => {
    const starting = startEmulator("test", "/nowhere/java", [], ".");
    await expect(starting).rejects.toThrow(/test did not start/);
  });
});
