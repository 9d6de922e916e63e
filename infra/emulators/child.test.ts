import { describe, expect, it } from "vitest";
import { startEmulator } from "./child.ts";

const start = (program: string) => startEmulator("test", process.execPath, ["-e", program], ".");

describe("an emulator", () => {
  it("is where it says that it listens, until it is stopped", async () => {
    const emulator = await start(
      "console.log('warming up'); console.log('listening 4321'); process.stdin.on('end', () => process.exit(0)).resume()",
    );
    expect(emulator.url).toBe("http://127.0.0.1:4321");
    await emulator.stop();
    await emulator.stop();
  });

  it("that ends before it listens is an error with what it wrote", async () => {
    const starting = start("console.error('no port is free'); process.exit(3)");
    await expect(starting).rejects.toThrow(/test did not start: no port is free/);
  });

  it("that is not there is an error", async () => {
    const starting = startEmulator("test", "/nowhere/java", [], ".");
    await expect(starting).rejects.toThrow(/test did not start/);
  });
});
