import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type AwsClients, awsClients } from "../platform/aws/clients.ts";
import { blobsBucketOf } from "../platform/aws/platform.ts";
import { provision } from "../platform/aws/provision/provision.ts";
import { blueprintOf } from "../platform/contract/blueprint.ts";
import { timersTable } from "../platform/timers-table.ts";
import { RELEASE_KEY, releaseTable } from "./release-state.ts";
import { splitContent } from "./split-content.ts";
import { expectNewDocuments, storeOldDocuments } from "./test-old-documents.ts";
import { openCloudUpgradePlatform, UPGRADE_RESOURCES } from "./test-upgrade-platform.ts";
import { LEASE_MS, upgradeData } from "./upgrade.ts";

const CHILD = fileURLToPath(new URL("./test-upgrade-child.ts", import.meta.url));
const OPTIONS = { release: "5.0.0", isExclusive: false, migrations: [splitContent] };

let clients: AwsClients;
let stack: string;
beforeAll(async () => {
  stack = `upgrade-${randomUUID().slice(0, 8)}`;
  clients = awsClients(process.env);
  const resources = { ...UPGRADE_RESOURCES, tables: [...UPGRADE_RESOURCES.tables, timersTable] };
  await provision(blueprintOf(stack, blobsBucketOf(stack), resources), { clients });
});
afterAll(() => clients.close());

it("content of documents becomes versions on DynamoDB, even if migrating servers are killed one after the other", async () => {
  const { ports, close } = await openCloudUpgradePlatform(stack);
  await storeOldDocuments(ports);
  for (const [round, killAt] of [3, 30].entries()) {
    const child = fork(CHILD, ["", String(killAt), stack]);
    const signal = await new Promise((resolve) => child.once("exit", (_, by) => resolve(by)));
    expect(signal).toBe("SIGKILL");
    const midway = await ports.tables.get(releaseTable, RELEASE_KEY);
    expect(midway).toMatchObject({ release: "4.8.6", upgrading: "5.0.0" });
    // Its claim has not expired yet.
    await expect(upgradeData(ports, OPTIONS)).rejects.toThrow(/Another server is upgrading the stored data/);
    if (round === 0) await ports.tables.update(releaseTable, RELEASE_KEY, { set: { lease_expires_at: 0 } });
  }
  const later = await openCloudUpgradePlatform(stack, LEASE_MS + 60_000);
  await upgradeData(later.ports, OPTIONS);
  await expectNewDocuments(ports);
  await expect(upgradeData(ports, { ...OPTIONS, release: "4.8.6" })).rejects.toThrow(/cannot be downgraded/);
  await Promise.all([close(), later.close()]);
});
