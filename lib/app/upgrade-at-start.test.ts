import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { jsonLog } from "../platform/json-log.ts";
import { readConfig } from "../settings/config.ts";
import { tables } from "../tables.ts";
import { testDeps } from "../testing/test-deps.ts";
import { RELEASE_KEY, releaseTable } from "../upgrades/release-state.ts";
import { openEmbeddedApp } from "./local.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "weft-start-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const open = () =>
  openEmbeddedApp({
    dataDir,
    config: readConfig({ WEFT_DATA_DIR: dataDir }),
    resources: { tables: Object.values(tables), queues: [], rules: [], schedules: [] },
    log: jsonLog({ write: () => undefined }),
    schedulerEnabled: false,
  });

async function stored(release?: string): Promise<unknown> {
  const { deps, close } = await testDeps({ folder: dataDir });
  if (release !== undefined)
    await deps.tables.write([{ op: "put", table: releaseTable, item: { ...RELEASE_KEY, release } }]);
  const found = await deps.tables.get(releaseTable, RELEASE_KEY);
  await close();
  return found?.release;
}

it("a server stores its release with the first data", async () => {
  await (await open()).close();
  expect(await stored()).toBe("5.0.0");
});

it("a server does not start if a release would be skipped, and unlocks the folder", async () => {
  await stored("4.6.2");
  await expect(open()).rejects.toThrow(/of release 4\.6\.2 and this is 5\.0\.0: .* 4\.7\.0, 4\.8\.0$/);
  expect(await stored()).toBe("4.6.2");
});

it("a server upgrades data of the previous release", async () => {
  await stored("4.8.6");
  await (await open()).close();
  expect(await stored()).toBe("5.0.0");
});
