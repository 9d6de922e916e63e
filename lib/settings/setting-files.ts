import { readFileSync, statSync } from "node:fs";

type Environment = Readonly<Record<string, string | undefined>>;

/** Largest file that holds a secret, bytes. */
const FILE_BYTES_MAX = 64 * 1024;

/**
 * The environment with each of these settings read from the file that `<NAME>_FILE` names, where there is one.
 * Throws an Error that says what to change where both are set or the file cannot be read. Reference 7.1.
 */
export function withSettingFiles(environment: Environment, names: readonly string[]): Environment {
  const read: Record<string, string> = {};
  for (const name of names) {
    const path = environment[`${name}_FILE`];
    if (path === undefined || path === "") continue;
    if (environment[name]) throw new Error(`${name}: set either it or ${name}_FILE, not both`);
    read[name] = readText(`${name}_FILE`, path);
  }
  return { ...environment, ...read };
}

function readText(setting: string, path: string): string {
  try {
    const found = statSync(path);
    if (found.isFile() && found.size <= FILE_BYTES_MAX) return readFileSync(path, "utf8").trim();
  } catch {
    throw new Error(`${setting}: must be a file that can be read, and it is not`);
  }
  throw new Error(`${setting}: must be a file of at most ${FILE_BYTES_MAX / 1024} KB`);
}
