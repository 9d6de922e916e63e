import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Callbacks in order of registration; they run in reverse order. */
const ends: (() => unknown)[] = [];

/** Calls `end` at the end of the benchmark. Its promise is not awaited if the benchmark is interrupted. */
export function addCleanup(end: () => unknown): void {
  ends.push(end);
}

/** Creates a temporary folder that is removed at the end. */
export function createTemporaryFolder(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `weft-bench-${name}-`));
  addCleanup(() => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  return path;
}

export async function cleanUp(): Promise<void> {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
}

/** Runs the callbacks on every exit, also on SIGINT and after an uncaught error. */
export function cleanUpOnExit(): void {
  for (const [signal, code] of Object.entries(SIGNALS)) process.once(signal, () => process.exit(code));
  process.once("exit", () => {
    for (const end of ends.splice(0).reverse()) void end();
  });
}
