// Plain JavaScript, as `find.js`.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { cacheOf, findBundle, removeBundle, useBundle } from "./find.js";
import { nameSourcesIn } from "./stacks.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");
const CACHE = cacheOf(ROOT);
const WRITE = fileURLToPath(new URL("./write.js", import.meta.url));

/**
 * The server's code: the bundle of the sources as they are now, or else the sources, and a bundle of them is then made
 * for the next start. What was compiled at an earlier start is not compiled again.
 */
export async function openServer() {
  const folder = findBundle(ROOT, CACHE);
  return (folder === undefined ? undefined : await fromBundle(folder)) ?? fromSources();
}

async function fromBundle(folder) {
  try {
    enableCompileCache(join(folder, "compiled"));
    useBundle(folder);
    const { runServer } = await import(pathToFileURL(join(folder, "server.mjs")).href);
    nameSourcesIn(pathToFileURL(folder).href);
    return { runServer };
  } catch {
    // Its files are as long as they should be, and yet broken: another is made in its place.
    removeBundle(folder);
    return undefined;
  }
}

async function fromSources() {
  enableCompileCache(join(ROOT, "node_modules", ".cache", "weft-compiled"));
  const { runServer } = await import("../server.ts");
  return {
    runServer: async (env) => {
      await runServer(env);
      makeBundle();
    },
  };
}

/** By a process of its own, which may outlive this one. */
function makeBundle() {
  try {
    mkdirSync(CACHE, { recursive: true });
  } catch {
    return;
  }
  const env = { PATH: process.env.PATH ?? "" };
  const child = spawn(process.execPath, [WRITE, "--later"], {
    cwd: ROOT,
    env,
    stdio: "ignore",
    detached: true,
  });
  child.on("error", () => {});
  child.unref();
}
