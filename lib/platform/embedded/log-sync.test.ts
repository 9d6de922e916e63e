import { closeSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, it, vi } from "vitest";
import { LogSync } from "./log-sync.ts";
import { temporaryFolder } from "./test-platform.ts";

afterEach(() => void vi.useRealTimers());

it("syncs a commit that was made during a sync, although nobody waits for it", async () => {
  const folder = await temporaryFolder();
  const path = join(folder.path, "weft.db");
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER)");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const log = new LogSync(path);
  const finished = async (): Promise<void> => {
    while (log.isRunning) await nextTurn();
  };
  try {
    log.committed();
    log.onceDurable(Array.from({ length: 3 }, () => () => undefined));
    expect(log.isRunning).toBe(true);
    log.committed();
    // The timer of the commit elapses before the running sync ends.
    vi.advanceTimersByTime(50);
    await finished();
    vi.advanceTimersByTime(50);
    await finished();
    let isDurable = false;
    log.onceDurable([() => (isDurable = true)]);
    // Called at once, so everything is on disk.
    expect(isDurable).toBe(true);
  } finally {
    log.close();
    database.close();
    await folder.remove();
  }
});

it.runIf(process.platform === "linux")(
  "a sync that fails ends the process, and calls nobody back",
  async () => {
    const folder = await temporaryFolder();
    const path = join(folder.path, "weft.db");
    const database = new DatabaseSync(path);
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER)");
    const log = new LogSync(path);
    const handlers = process.listeners("uncaughtException");
    try {
      log.committed();
      await new Promise<void>((resolve) => log.onceDurable([resolve]));
      for (const file of openFiles(`${path}-wal`)) closeSync(file);
      process.removeAllListeners("uncaughtException");
      const ending = new Promise<Error>((resolve) => process.once("uncaughtException", resolve));
      const calledBack = vi.fn();
      log.committed();
      log.onceDurable([calledBack]);
      expect(await ending).toMatchObject({ code: "EBADF", syscall: "fdatasync" });
      expect(calledBack).not.toHaveBeenCalled();
    } finally {
      process.removeAllListeners("uncaughtException");
      for (const handler of handlers) process.on("uncaughtException", handler);
      await folder.remove();
    }
  },
);

/** The descriptors of this process that read a file. SQLite opens it for writing, too. */
function openFiles(path: string): number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((file) => {
      try {
        const flags = readFileSync(`/proc/self/fdinfo/${file}`, "utf8");
        return readlinkSync(`/proc/self/fd/${file}`) === path && /^flags:\s*0?\d*0$/m.test(flags);
      } catch {
        return false;
      }
    });
}
