import { fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RELEASE_KEY, releaseTable } from "./release-state.ts";
import { splitContent } from "./split-content.ts";
import { expectNewDocuments, storeOldDocuments } from "./test-old-documents.ts";
import { openUpgradePlatform } from "./test-upgrade-platform.ts";
import { upgradeData } from "./upgrade.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "weft-content-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

/** A data folder of release 4.8. */
async function store(): Promise<void> {
  const { ports, close } = await openUpgradePlatform(dataDir);
  await storeOldDocuments(ports);
  await close();
}

async function checkAll(): Promise<void> {
  const { ports, close } = await openUpgradePlatform(dataDir);
  await expectNewDocuments(ports).finally(close);
}

describe("the migration of content into versions", () => {
  it("stores it as the first version, and changes nothing else of the documents", async () => {
    await store();
    const { ports, close } = await openUpgradePlatform(dataDir);
    await upgradeData(ports, { release: "5.0.0", isExclusive: true, migrations: [splitContent] });
    await close();
    await checkAll();
  });

  it.each([3, 26, 55])(
    "completes if the process is killed at blob %i and restarted",
    async (killAt) => {
      await store();
      const child = fork(fileURLToPath(new URL("./test-upgrade-child.ts", import.meta.url)), [
        dataDir,
        String(killAt),
      ]);
      const signal = await new Promise((resolve) => child.once("exit", (_, by) => resolve(by)));
      expect(signal).toBe("SIGKILL");

      const { ports, close } = await openUpgradePlatform(dataDir);
      const midway = await ports.tables.get(releaseTable, RELEASE_KEY);
      expect(midway).toMatchObject({ release: "4.8.6", upgrading: "5.0.0" });
      await upgradeData(ports, { release: "5.0.0", isExclusive: true, migrations: [splitContent] });
      await close();
      await checkAll();
    },
    20_000,
  );
});
