import { fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { contentApart } from "./content-apart.ts";
import { markTable, RELEASE_KEY } from "./mark.ts";
import { expectNewDocuments, storeOldDocuments } from "./test-old-documents.ts";
import { openUpgradePlatform } from "./test-upgrade-platform.ts";
import { upgradeData } from "./upgrade.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "weft-content-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

/** A folder as 4.8 left it. */
async function store(): Promise<void> {
  const { ports, close } = await openUpgradePlatform(dataDir);
  await storeOldDocuments(ports);
  await close();
}

async function checkAll(): Promise<void> {
  const { ports, close } = await openUpgradePlatform(dataDir);
  await expectNewDocuments(ports).finally(close);
}

describe("content inside of documents", () => {
  it("becomes the first of their versions, and nothing else of them changes", async () => {
    await store();
    const { ports, close } = await openUpgradePlatform(dataDir);
    await upgradeData(ports, { release: "5.0.0", alone: true, migrations: [contentApart] });
    await close();
    await checkAll();
  });

  it.each([3, 26, 55])(
    "comes out whole where the process is killed at blob %i and started again",
    async (killAt) => {
      await store();
      const child = fork(fileURLToPath(new URL("./test-upgrade-child.ts", import.meta.url)), [
        dataDir,
        String(killAt),
      ]);
      const signal = await new Promise((resolve) => child.once("exit", (_, by) => resolve(by)));
      expect(signal).toBe("SIGKILL");

      const { ports, close } = await openUpgradePlatform(dataDir);
      const midway = await ports.tables.get(markTable, RELEASE_KEY);
      expect(midway).toMatchObject({ release: "4.8.6", upgrading: "5.0.0" });
      await upgradeData(ports, { release: "5.0.0", alone: true, migrations: [contentApart] });
      await close();
      await checkAll();
    },
    20_000,
  );
});
