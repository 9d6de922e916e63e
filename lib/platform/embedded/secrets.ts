import { readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { createRedactor } from "../../redaction/redaction.ts";
import { PlatformFault } from "../faults.ts";
import type { Secrets } from "../secrets.ts";
import { toStorageFault } from "./storage-faults.ts";

export interface FileSecrets extends Secrets {
  /** Also redacts this value from now on, for secrets that are not in the file, such as the access token. */
  alsoRedact(value: string): void;
}

const OTHERS_MODE = 0o077;

/**
 * The secrets port over `secrets.env` in the data folder, with one `NAME=value` per line. Every use checks the file and
 * reads it again if it changed; without the file there are no secrets.
 */
export function fileSecrets(dataDir: string): FileSecrets {
  const path = join(dataDir, "secrets.env");
  const redactor = createRedactor();
  let values = new Map<string, string>();
  let version = "";

  const load = (stats: Stats): void => {
    const { mode, mtimeMs, size, ino } = stats;
    if (!stats.isFile()) throw new PlatformFault("secrets_unreadable", `${path} is not a file`);
    if ((mode & OTHERS_MODE) !== 0) {
      throw new PlatformFault("secrets_unreadable", `run: chmod 600 ${path}`);
    }
    const found = `${ino}.${mtimeMs}.${size}`;
    if (found === version) return;
    const entries = Object.entries(parseEnv(readFileSync(path, "utf8")));
    values = new Map(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
    redactor.add(values.values());
    version = found;
  };
  const refresh = (): void => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined) {
      load(stats);
      return;
    }
    values = new Map();
    version = "";
  };
  try {
    refresh();
  } catch {
    // `get` throws this error; redaction works without it.
  }
  return {
    get: async (name) => {
      try {
        refresh();
      } catch (error) {
        throw toStorageFault(error);
      }
      return values.get(name);
    },
    redact: redactor.redact,
    alsoRedact: (value) => redactor.add([value]),
  };
}
