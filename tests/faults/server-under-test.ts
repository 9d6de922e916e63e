/**
 * A server for tests that replace the template (`WEFT_TEST_TEMPLATE`) or set the clock ahead (`WEFT_TEST_AHEAD_MS`).
 * A line `advance <ms>` on standard input moves the clock further.
 */
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { openEmbeddedApp } from "../../lib/app/local.ts";
import { jsonLog } from "../../lib/platform/json-log.ts";
import { readConfig } from "../../lib/settings/config.ts";
import { startPlatform } from "../../localstack/platform.ts";
import { readTemplateOnce } from "../../localstack/template-cache.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const config = readConfig(process.env);
const template = readTemplateOnce(
  process.env["WEFT_TEST_TEMPLATE"] ?? `${ROOT}/template.yaml`,
  config.dataDir,
);
const log = jsonLog({ write: (line) => void process.stderr.write(line), level: "info" });
let ahead = Number(process.env["WEFT_TEST_AHEAD_MS"] ?? 0);

const opened = await openEmbeddedApp({
  dataDir: config.dataDir,
  resources: template.resources,
  config,
  log,
  schedulerEnabled: config.schedulerEnabled,
  clock: { now: () => Date.now() + ahead },
});
const platform = await startPlatform({
  template,
  root: ROOT,
  opened,
  log,
  host: config.host,
  port: config.port,
  bodiesDir: join(config.dataDir, "bodies-unfinished"),
});
process.on("SIGTERM", () => {
  void platform.close().then(() => process.exit(0));
});
createInterface({ input: process.stdin }).on("line", (line) => {
  ahead += Number(/^advance (-?\d+)$/.exec(line)?.[1] ?? 0);
  void opened.poke();
});
// Tests kill the server, which then writes no cache.
flushCompileCache();
process.stdout.write(`weft ready  automation=${platform.url}/automation\n`);
