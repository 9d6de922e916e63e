// Plain JavaScript: npm may run it with an older Node, or before the sources are copied.
import { fileURLToPath } from "node:url";

/* Builds the page at the installation. A failure does not fail the installation: the server says what is missing. */
try {
  const { buildWeb } = await import("./build.ts");
  await buildWeb(fileURLToPath(new URL("../..", import.meta.url)));
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`weft: cannot build the web interface: ${reason}\n`);
}
