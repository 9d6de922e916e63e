import { fileURLToPath } from "node:url";
import { ensureWeb } from "../../web/build/build.ts";

/** Global setup: builds the web interface once, before several workers need it. */
export async function setup(): Promise<void> {
  await ensureWeb(fileURLToPath(new URL("../..", import.meta.url)));
}
