import { mkdirSync, readdirSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** A path that cannot be the data folder: its message says why, and what to do. */
export class DataFolderUnusable extends Error {
  readonly code = "data_folder_unusable";
  constructor(dataDir: string, reason: string, cause?: unknown) {
    super(`The data folder ${dataDir} cannot be used: ${reason}`, { cause });
    this.name = "DataFolderUnusable";
  }
}

const ELSEWHERE = "choose another folder with WEFT_DATA_DIR.";

/**
 * Makes the data folder (0700) where it is missing. Throws DataFolderUnusable where it cannot be one, and where
 * something in it would block whoever opens it.
 */
export function makeDataFolder(dataDir: string): void {
  makeFolder(dataDir, dataDir);
  for (const { name } of readdirSync(dataDir, { withFileTypes: true })) {
    const found = statsOf(join(dataDir, name));
    if (found !== undefined && isBlocking(found))
      throw new DataFolderUnusable(dataDir, `${name} in it is a pipe or a device, not a file: remove it.`);
  }
}

/** Folder by folder: Node's own way (`recursive`) never ends below a folder that takes none, such as /proc. */
function makeFolder(path: string, dataDir: string): void {
  const found = statsOf(path);
  if (found?.isDirectory()) return;
  if (found !== undefined) throw new DataFolderUnusable(dataDir, `${path} is not a folder: ${ELSEWHERE}`);
  if (dirname(path) !== path) makeFolder(dirname(path), dataDir);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && statsOf(path)?.isDirectory()) return;
    throw new DataFolderUnusable(dataDir, `${path} cannot be made (${code}): ${ELSEWHERE}`, error);
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Opening a pipe waits for somebody at its other end, and a device may never end. */
function isBlocking(found: Stats): boolean {
  return found.isFIFO() || found.isCharacterDevice() || found.isBlockDevice();
}
