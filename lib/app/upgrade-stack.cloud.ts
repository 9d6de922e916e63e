import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { awsClients } from "../platform/aws/clients.ts";
import { blobsBucketOf } from "../platform/aws/platform.ts";
import { provision } from "../platform/aws/provision/provision.ts";
import { blueprintOf } from "../platform/contract/blueprint.ts";
import { jsonLog } from "../platform/json-log.ts";
import { timersTable } from "../platform/timers-table.ts";
import { expectNewDocuments, storeOldDocuments } from "../upgrades/test-old-documents.ts";
import { openCloudUpgradePlatform, UPGRADE_RESOURCES } from "../upgrades/test-upgrade-platform.ts";
import { upgradeStack } from "./cli.ts";

it("the data of a stack is migrated by itself, once", async () => {
  const clients = awsClients(process.env);
  const own = `upgrade-${randomUUID().slice(0, 8)}`;
  const resources = { ...UPGRADE_RESOURCES, tables: [...UPGRADE_RESOURCES.tables, timersTable] };
  await provision(blueprintOf(own, blobsBucketOf(own), resources), { clients });
  const { ports, close } = await openCloudUpgradePlatform(own);
  await storeOldDocuments(ports);
  const lines: string[] = [];
  const log = jsonLog({ write: (line) => lines.push(line), level: "info" });
  for (let round = 0; round < 2; round += 1)
    expect(await upgradeStack({ stack: own, environment: process.env, log, release: "5.0.0" })).toBe("5.0.0");
  await expectNewDocuments(ports);
  await close();
  clients.close();
});
