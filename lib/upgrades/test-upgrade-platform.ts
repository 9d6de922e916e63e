import type { AwsPlatform } from "../platform/aws/platform.ts";
import { type EmbeddedPlatform, openEmbedded } from "../platform/embedded/platform.ts";
import type { Log } from "../platform/log.ts";
import type { Resources } from "../platform/resources.ts";
import { releaseTable } from "./release-state.ts";

const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => log,
};

const unavailable = (): Promise<never> => Promise.reject(new Error("not available during an upgrade"));

/** The tables that migrations use. */
export const UPGRADE_RESOURCES: Resources = {
  tables: [releaseTable.name, "documents", "document-versions"].map((name) => ({ name, indexes: {} })),
  queues: [],
  rules: [],
  schedules: [],
};

const parts = {
  resources: UPGRADE_RESOURCES,
  log,
  commands: { run: unavailable },
  scripts: { run: unavailable },
};

/** A data folder with these tables. */
export const openUpgradePlatform = (dataDir: string): Promise<EmbeddedPlatform> =>
  openEmbedded({ dataDir, ...parts });

/** A stack with these tables, and a clock that may be ahead. */
export async function openCloudUpgradePlatform(stack: string, aheadMs = 0): Promise<AwsPlatform> {
  const { openAws } = await import("../platform/aws/platform.ts");
  return openAws({ stack, ...parts, clock: { now: () => Date.now() + aheadMs } });
}
