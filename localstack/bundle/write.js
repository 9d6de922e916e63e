// Plain JavaScript: npm may run it by an older Node, and before the sources are there.
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { cacheOf, findBundle } from "./find.js";

/** Leaves the machine to the server that started it. */
const LATER_PRIORITY = 10;

/*
 * The program that makes a bundle of the sources where there is none of them as they are: at the installation, and
 * beside a server that runs the sources (`--later`). It never fails what called it.
 */
const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");
const cache = cacheOf(root);
try {
  if (process.argv.includes("--later")) setPriority(LATER_PRIORITY);
  const { buildBundle } = await import("./build.ts");
  if (findBundle(root, cache) === undefined) await buildBundle(root, cache);
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`weft: no bundle was made, the server starts from its sources: ${reason}\n`);
}
