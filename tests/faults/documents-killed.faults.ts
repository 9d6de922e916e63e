import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { eventFaults, faultsOf } from "./document-checks.ts";
import { plant, type Work, writeUntilGone } from "./document-writers.ts";

const ROUNDS = 20;
/** Changes that are acknowledged before the end at least, and that may be besides. */
const CHANGES = { min: 10, more: 70 };
/** Some are under way then, whenever it is. */
const MORE_MS = 30;
const SERVER = fileURLToPath(new URL("./server-under-test.ts", import.meta.url));
/** Longer than edits are gathered until they are told of. */
const TOLD_MS = 95_000;

test("a server that is killed amid saves, moves and deletions has all of each or nothing of it when it is back", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "weft-documents-killed-"));
  const start = (): Promise<TestServer> => startTestServer({ dataDir, program: [process.execPath, SERVER] });
  let weft = await start();
  try {
    const work = await plant(weft);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const writers = writeUntilGone(weft, work);
      const enough = total(work) + CHANGES.min + Math.random() * CHANGES.more;
      await waitUntil("changes", () => total(work) >= enough);
      await sleep(Math.random() * MORE_MS);
      await weft.kill();
      expect(await writers, `round ${round}`).toEqual([]);
      weft = await start();
      expect(await faultsOf(weft, work), `round ${round}`).toEqual([]);
    }
    for (const [kind, count] of Object.entries(countOf(work))) expect(count, kind).toBeGreaterThan(0);
    weft.child.stdin?.write(`advance ${TOLD_MS}\n`);
    const faults = await waitUntil("all events", async () => {
      const found = await eventFaults(weft, work);
      return found.length === 0 ? ["none"] : undefined;
    }).catch(() => eventFaults(weft, work));
    expect(faults).toEqual(["none"]);
  } finally {
    await weft.kill();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}, 300_000);

const allDone = (told: Iterable<{ readonly done: readonly unknown[] }>): number =>
  [...told].reduce((sum, { done }) => sum + done.length, 0);

/** Of each kind of change, how many were done. */
const countOf = ({ moved, saved, appended, made, deleted }: Work) => ({
  moves: allDone(moved.values()) - moved.size,
  saves: allDone(saved.values()),
  lines: allDone(appended),
  made: allDone(made),
  deleted: allDone(deleted),
});
const total = (work: Work): number => Object.values(countOf(work)).reduce((sum, count) => sum + count, 0);
