import { accessSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Opens an empty file for reading and writing, in memory if the system has a folder for that. The file is unlinked at
 * once, so that nobody else can open it by a path. Throws if there is no folder for temporary files.
 */
export function openMemoryFile(): number {
  const folder = mkdtempSync(join(memoryFolder() ?? tmpdir(), "weft-"));
  try {
    return openSync(join(folder, "file"), "wx+", 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function memoryFolder(): string | undefined {
  try {
    accessSync("/dev/shm", constants.W_OK | constants.X_OK);
    return "/dev/shm";
  } catch {
    return undefined;
  }
}
