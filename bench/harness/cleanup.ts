import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Latest last; what was made last goes first. */
const ends: (() => void)[] = [];

/** Has `end` called when the benchmark ends, by itself or by a signal. It must be harmless when called again. */
export function atEnd(end: () => void): void {
  ends.push(end);
}

/** A new temporary folder that is gone at the end. */
export function temporaryFolder(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `weft-bench-${name}-`));
  atEnd(() => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  return path;
}

export function cleanUp(): void {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) end();
}

/** A person's Ctrl-C leaves no server and no folder behind. */
export function cleanUpOnSignals(): void {
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.once(signal, () => {
      cleanUp();
      process.exit(code);
    });
  }
}
