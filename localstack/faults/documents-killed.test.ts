import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startWeft, until, type Weft } from "../e2e/weft.ts";
import { eventFaults, faultsOf } from "./document-checks.ts";
import { plant, type Work, writeUntilGone } from "./document-writers.ts";

/** Few here, many under `npm run test:faults`. */
const ROUNDS = Number(process.env["WEFT_KILL_ROUNDS"] ?? 0) * 2 || 8;
const LIVES_MS = { min: 20, more: 400 };
const SERVER = fileURLToPath(new URL("./server-under-test.ts", import.meta.url));
/** Longer than edits are gathered until they are told of. */
const TOLD_MS = 95_000;

test("a server that is killed amid saves, moves and deletions has all of each or nothing of it when it is back", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "weft-documents-killed-"));
  const start = (): Promise<Weft> => startWeft({ dataDir, program: [process.execPath, SERVER] });
  let weft = await start();
  try {
    const work = await plant(weft);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const writers = writeUntilGone(weft, work);
      await sleep(LIVES_MS.min + Math.random() * LIVES_MS.more);
      await weft.kill9();
      expect(await writers, `round ${round}`).toEqual([]);
      weft = await start();
      expect(await faultsOf(weft, work), `round ${round}`).toEqual([]);
    }
    for (const [kind, least] of Object.entries(countOf(work))) expect(least, kind).toBeGreaterThan(0);
    weft.child.stdin?.write(`advance ${TOLD_MS}\n`);
    const faults = await until("all events", async () => {
      const found = await eventFaults(weft, work);
      return found.length === 0 ? ["none"] : undefined;
    }).catch(() => eventFaults(weft, work));
    expect(faults).toEqual(["none"]);
  } finally {
    await weft.kill9();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}, 300_000);

/** Of each kind of change, how many whoever had fewest did. */
const countOf = ({ moved, saved, appended, made, deleted }: Work) => ({
  moves: Math.min(...[...moved.values()].map(({ done }) => done.length - 1)),
  saves: Math.min(...[...saved.values()].map(({ done }) => done.length)),
  lines: Math.min(...appended.map(({ done }) => done.length)),
  made: Math.min(...made.map(({ done }) => done.length)),
  deleted: Math.min(...deleted.map(({ done }) => done.length)),
});
