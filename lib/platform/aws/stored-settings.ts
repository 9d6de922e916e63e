import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "./client-options.ts";
import { readParameter } from "./parameters.ts";
import type { Ssm } from "./services.ts";

/** Names of the settings that the parameter store may hold. */
export interface StorableSettings {
  readonly values: readonly string[];
  /** The value is the path of a file, and the parameter holds the content of the file. */
  readonly files: readonly string[];
}

/**
 * The environment with the settings in the parameter store: `WEFT_DOCUMENT_SECRETS` lists their names, separated by
 * commas, and `WEFT_DOCUMENT_SECRETS_PATH` is their path. Throws for any other name and for a missing parameter.
 */
export async function withStoredSettings(
  ssm: Ssm,
  environment: Environment,
  { values, files }: StorableSettings,
): Promise<Environment> {
  const { WEFT_DOCUMENT_SECRETS: list = "", WEFT_DOCUMENT_SECRETS_PATH: path = "" } = environment;
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const storable = [...values, ...files];
  const unknown = names.find((name) => !storable.includes(name));
  if (unknown !== undefined)
    throw new Error(
      `WEFT_DOCUMENT_SECRETS: must contain only ${storable.join(", ")}; remove ${unknown.slice(0, 100)}`,
    );
  const stored = await Promise.all(
    names.map(async (name) => {
      const value = await readParameter(ssm, `${path}/${name}`);
      return [name, files.includes(name) ? await writeSettingFile(name, value) : value];
    }),
  );
  return { ...environment, ...(Object.fromEntries(stored) as Environment) };
}

/** Returns the path of the file. */
async function writeSettingFile(name: string, content: string): Promise<string> {
  const path = join(tmpdir(), `weft-${name.toLowerCase()}`);
  await writeFile(path, content, { mode: 0o600 });
  return path;
}
