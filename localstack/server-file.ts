import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** How other programs on the machine find the server of a data folder. */
export interface ServerFile {
  /** `http://HOST:PORT` */
  readonly url: string;
  readonly pid: number;
}

const pathIn = (dataDir: string): string => join(dataDir, "server.json");

/** Writes `server.json` (0600) atomically. */
export function writeServerFile(dataDir: string, file: ServerFile): void {
  const path = pathIn(dataDir);
  const draft = `${path}.${file.pid}`;
  writeFileSync(draft, `${JSON.stringify(file)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

/** The content of `server.json`, or undefined. The file remains after a crash. */
export function readServerFile(dataDir: string): ServerFile | undefined {
  try {
    const { url, pid } = JSON.parse(readFileSync(pathIn(dataDir), "utf8")) as Partial<ServerFile>;
    return typeof url === "string" && typeof pid === "number" ? { url, pid } : undefined;
  } catch {
    return undefined;
  }
}

export function removeServerFile(dataDir: string): void {
  rmSync(pathIn(dataDir), { force: true });
}
