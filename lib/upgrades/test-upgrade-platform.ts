import { type EmbeddedPlatform, openEmbedded } from "../platform/embedded/platform.ts";
import type { Log } from "../platform/log.ts";
import { markTable } from "./mark.ts";

const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => log,
};

const notHere = (): Promise<never> => Promise.reject(new Error("an upgrade starts nothing"));

/** A data folder with the tables that migrations know of. */
export function openUpgradePlatform(dataDir: string): Promise<EmbeddedPlatform> {
  const names = [markTable.name, "documents", "document-versions"];
  return openEmbedded({
    dataDir,
    resources: { tables: names.map((name) => ({ name, indexes: {} })), queues: [], rules: [], schedules: [] },
    log,
    commands: { run: notHere },
    scripts: { run: notHere },
  });
}
