import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { findDocumentIssues, findEventIssues } from "./document-checks.ts";
import { createDocuments, type Work, writeUntilServerEnds } from "./document-writers.ts";

const ROUNDS = 20;
/** Acknowledged changes before each kill: the minimum, and the maximum of random additional ones. */
const CHANGES = { min: 10, more: 70 };
/** Maximum of the random delay before the kill, so that it interrupts changes at any point. */
const MORE_MS = 30;
const SERVER = fileURLToPath(new URL("./server-under-test.ts", import.meta.url));
/** Longer than the delay of update events. */
const UPDATE_DELAY_MS = 95_000;

test("each save, move and deletion is applied completely or not at all after kill -9", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "weft-documents-killed-"));
  const start = (): Promise<TestServer> => startTestServer({ dataDir, program: [process.execPath, SERVER] });
  let weft = await start();
  try {
    const work = await createDocuments(weft);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const writers = writeUntilServerEnds(weft, work);
      const enough = total(work) + CHANGES.min + Math.random() * CHANGES.more;
      await waitUntil("changes", () => total(work) >= enough);
      await sleep(Math.random() * MORE_MS);
      await weft.kill();
      expect(await writers, `round ${round}`).toEqual([]);
      weft = await start();
      expect(await findDocumentIssues(weft, work), `round ${round}`).toEqual([]);
    }
    for (const [kind, count] of Object.entries(countOf(work))) expect(count, kind).toBeGreaterThan(0);
    weft.child.stdin?.write(`advance ${UPDATE_DELAY_MS}\n`);
    const faults = await waitUntil("all events", async () => {
      const found = await findEventIssues(weft, work);
      return found.length === 0 ? ["none"] : undefined;
    }).catch(() => findEventIssues(weft, work));
    expect(faults).toEqual(["none"]);
  } finally {
    await weft.kill();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}, 300_000);

const allDone = (writers: Iterable<{ readonly done: readonly unknown[] }>): number =>
  [...writers].reduce((sum, { done }) => sum + done.length, 0);

/** Number of applied changes by kind. */
const countOf = ({ moved, saved, appended, made, deleted }: Work) => ({
  moves: allDone(moved.values()) - moved.size,
  saves: allDone(saved.values()),
  lines: allDone(appended),
  made: allDone(made),
  deleted: allDone(deleted),
});
const total = (work: Work): number => Object.values(countOf(work)).reduce((sum, count) => sum + count, 0);
