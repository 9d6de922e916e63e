import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Latest last; what was made last goes first. */
const ends: (() => unknown)[] = [];

/** Has `end` called when the benchmark ends; where it ends before its time, nobody waits for its promise. */
export function atEnd(end: () => unknown): void {
  ends.push(end);
}

/** A new temporary folder that is gone at the end. */
export function temporaryFolder(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `weft-bench-${name}-`));
  atEnd(() => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  return path;
}

export async function cleanUp(): Promise<void> {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
}

/** However it ends, by a person's Ctrl-C or by an error that nobody caught: no server and no folder is left behind. */
export function cleanUpOnExit(): void {
  for (const [signal, code] of Object.entries(SIGNALS)) process.once(signal, () => process.exit(code));
  process.once("exit", () => {
    for (const end of ends.splice(0).reverse()) void end();
  });
}
