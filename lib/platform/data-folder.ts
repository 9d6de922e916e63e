import { mkdirSync, readdirSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** A path that cannot be the data folder. The message states the reason and the remedy. */
export class DataFolderError extends Error {
  readonly code = "data_folder_unusable";
  constructor(dataDir: string, reason: string, cause?: unknown) {
    super(`The data folder ${dataDir} cannot be used: ${reason}`, { cause });
    this.name = "DataFolderError";
  }
}

const ELSEWHERE = "choose another folder with WEFT_DATA_DIR.";

/**
 * Creates the data folder (mode 0700) if it is missing. Throws DataFolderError if the path cannot be a data folder,
 * or if it contains a file whose opening would block.
 */
export function makeDataFolder(dataDir: string): void {
  makeFolder(dataDir, dataDir);
  for (const { name } of readdirSync(dataDir, { withFileTypes: true })) {
    const found = statsOf(join(dataDir, name));
    if (found !== undefined && isBlocking(found))
      throw new DataFolderError(dataDir, `its entry ${name} is not a regular file: remove it.`);
  }
}

/**
 * Creates one folder at a time: Node's `recursive` option never returns below a folder that rejects children, such as
 * /proc.
 */
function makeFolder(path: string, dataDir: string): void {
  const found = statsOf(path);
  if (found?.isDirectory()) return;
  if (found !== undefined) throw new DataFolderError(dataDir, `${path} is not a folder: ${ELSEWHERE}`);
  if (dirname(path) !== path) makeFolder(dirname(path), dataDir);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && statsOf(path)?.isDirectory()) return;
    throw new DataFolderError(dataDir, `${path} cannot be created (${code}): ${ELSEWHERE}`, error);
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Opening a pipe waits for a process at its other end, and reading a device may never end. */
function isBlocking(found: Stats): boolean {
  return found.isFIFO() || found.isCharacterDevice() || found.isBlockDevice();
}
