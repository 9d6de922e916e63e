import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { jsonLog } from "../platform/json-log.ts";
import { readConfig } from "../settings/config.ts";
import { tables } from "../tables.ts";
import { testDeps } from "../testing/test-deps.ts";
import { markTable, RELEASE_KEY } from "../upgrades/mark.ts";
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
    await deps.tables.write([{ op: "put", table: markTable, item: { ...RELEASE_KEY, release } }]);
  const found = await deps.tables.get(markTable, RELEASE_KEY);
  await close();
  return found?.release;
}

it("a server marks the data that it is the first to store", async () => {
  await (await open()).close();
  expect(await stored()).toBe("5.0.0");
});

it("a server does not start on data of a release that is not the one before, and gives the folder free", async () => {
  await stored("4.6.2");
  await expect(open()).rejects.toThrow(/of release 4\.6\.2 and this is 5\.0\.0: .* 4\.7\.0, 4\.8\.0$/);
  expect(await stored()).toBe("4.6.2");
});

it("a server starts on data of the release before, which is then of its own", async () => {
  await stored("4.8.6");
  await (await open()).close();
  expect(await stored()).toBe("5.0.0");
});
