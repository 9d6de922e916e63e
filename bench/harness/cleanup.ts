import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Latest last; what was made last goes first. */
const ends: (() => unknown)[] = [];

/** Has `end` called when the benchmark ends; where a signal ends it, nobody waits for its promise. */
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

/** A person's Ctrl-C leaves no server and no folder behind. */
export function cleanUpOnSignals(): void {
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.once(signal, () => {
      for (const end of ends.reverse()) void end();
      process.exit(code);
    });
  }
}
