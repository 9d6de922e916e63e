import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "../log.ts";
import type { Resources } from "../resources.ts";
import { type EmbeddedOptions, type EmbeddedPlatform, openEmbedded } from "./platform.ts";

/** A log that drops all records. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLog,
};

/** Creates a temporary folder; `remove` deletes it. */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "weft-test-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

const refuse = (): Promise<never> =>
  Promise.reject(new Error("commands and scripts are not available in this test"));

/** The embedded platform of a test that runs no commands and no scripts. */
export function openForTest(
  dataDir: string,
  resources: Resources,
  more: Partial<EmbeddedOptions> = {},
): Promise<EmbeddedPlatform> {
  return openEmbedded({
    dataDir,
    resources,
    log: silentLog,
    commands: { run: refuse },
    scripts: { run: refuse },
    ...more,
  });
}
