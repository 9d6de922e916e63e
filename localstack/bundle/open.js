// Plain JavaScript: a start from the bundle does not load the type stripper.
import { existsSync, readFileSync, statSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { nameSourcesIn } from "./stacks.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");

/** The folder of the server's bundle in a checkout or an installation. */
export function bundleFolder(root) {
  return join(root, "node_modules", ".cache", "weft-server");
}

/**
 * Loads the server from the bundle that the installation built. In a Git checkout, where sources are edited, the bundle
 * is built again if a source is newer. Where no bundle can be built, the server runs from its sources.
 */
export async function openServer() {
  const folder = bundleFolder(ROOT);
  try {
    await ensureBundle(ROOT);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // Without these packages the server does not start either, and says why.
    if (error?.code !== "ERR_MISSING_PACKAGES")
      process.stderr.write(`weft: cannot build the server bundle, running from the sources: ${reason}\n`);
    enableCompileCache(join(ROOT, "node_modules", ".cache", "weft-compiled"));
    return import("../server.ts");
  }
  enableCompileCache(join(folder, "compiled"));
  const server = await import(pathToFileURL(join(folder, "server.mjs")).href);
  nameSourcesIn(pathToFileURL(folder).href);
  return server;
}

/** Builds the bundle if there is none, or if it is older than a source. Rejects if it cannot be built. */
export async function ensureBundle(root) {
  if (isCurrent(root)) return;
  const { buildBundle } = await import("./build.ts");
  await buildBundle(root, bundleFolder(root));
}

/** Whether the bundle was built in this folder and, in a Git checkout, from the sources as they are. */
export function isCurrent(root) {
  try {
    const built = JSON.parse(readFileSync(join(bundleFolder(root), "bundle.json"), "utf8"));
    if (built.root !== root) return false;
    return (
      !existsSync(join(root, ".git")) || built.sources.every((path) => isOlder(root, path, built.startedAt))
    );
  } catch {
    return false;
  }
}

function isOlder(root, path, time) {
  const { mtimeMs, ctimeMs } = statSync(`${root}/${path}`);
  return mtimeMs < time && ctimeMs < time;
}
