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
    log.onceDurable([() => undefined], true);
    expect(log.isRunning).toBe(true);
    log.committed();
    // The timer of the commit elapses before the running sync ends.
    vi.advanceTimersByTime(50);
    await finished();
    vi.advanceTimersByTime(50);
    await finished();
    let isDurable = false;
    log.onceDurable([() => (isDurable = true)], true);
    // Called at once, so everything is on disk.
    expect(isDurable).toBe(true);
  } finally {
    log.close();
    database.close();
    await folder.remove();
  }
});
