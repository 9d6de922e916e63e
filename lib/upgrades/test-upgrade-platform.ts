import type { AwsPlatform } from "../platform/aws/platform.ts";
import { type EmbeddedPlatform, openEmbedded } from "../platform/embedded/platform.ts";
import type { Log } from "../platform/log.ts";
import type { Resources } from "../platform/resources.ts";
import { markTable } from "./mark.ts";

const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => log,
};

const notHere = (): Promise<never> => Promise.reject(new Error("an upgrade starts nothing"));

/** The tables that migrations know of. */
export const UPGRADE_RESOURCES: Resources = {
  tables: [markTable.name, "documents", "document-versions"].map((name) => ({ name, indexes: {} })),
  ...{ queues: [], rules: [], schedules: [] },
};

const parts = { resources: UPGRADE_RESOURCES, log, commands: { run: notHere }, scripts: { run: notHere } };

/** A data folder with them. */
export const openUpgradePlatform = (dataDir: string): Promise<EmbeddedPlatform> =>
  openEmbedded({ dataDir, ...parts });

/** A stack that has them, with a clock that may be ahead. */
export async function openCloudUpgradePlatform(stack: string, aheadMs = 0): Promise<AwsPlatform> {
  const { openAws } = await import("../platform/aws/platform.ts");
  return openAws({ stack, ...parts, clock: { now: () => Date.now() + aheadMs } });
}
