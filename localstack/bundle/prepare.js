// Plain JavaScript: npm may run it with an older Node, or before the sources are copied.
import { fileURLToPath } from "node:url";
import { bundleFolder, ensureBundle } from "./open.js";

/* Builds the server's bundle at the installation. A failure does not fail the installation: a start tries again. */
const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");
try {
  await ensureBundle(root);
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`weft: cannot build the server bundle in ${bundleFolder(root)}: ${reason}\n`);
}
