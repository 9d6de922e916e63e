import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SSMClient } from "@aws-sdk/client-ssm";
import { DOCUMENT_SECRETS } from "../../settings/document-settings.ts";
import type { Environment } from "./clients.ts";
import { readParameter } from "./parameters.ts";

/** Its parameter holds what is in the file. */
const THEME = "THEME_CUSTOMIZATION_FILE_PATH";
const STORED: readonly string[] = [...DOCUMENT_SECRETS, THEME];

/**
 * The environment with the settings of documents that lie in the parameter store: those that `WEFT_DOCUMENT_SECRETS`
 * names, by commas, each below `WEFT_DOCUMENT_SECRETS_PATH`. Throws for another name, and where a parameter is missing.
 */
export async function withStoredSettings(client: SSMClient, environment: Environment): Promise<Environment> {
  const { WEFT_DOCUMENT_SECRETS: named = "", WEFT_DOCUMENT_SECRETS_PATH: path = "" } = environment;
  const names = named
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const wrong = names.find((name) => !STORED.includes(name));
  if (wrong !== undefined)
    throw new Error(`WEFT_DOCUMENT_SECRETS: ${wrong.slice(0, 100)} is none of ${STORED.join(", ")}`);
  const values = await Promise.all(
    names.map(async (name) => [name, await placed(name, await readParameter(client, `${path}/${name}`))]),
  );
  return { ...environment, ...(Object.fromEntries(values) as Environment) };
}

async function placed(name: string, value: string): Promise<string> {
  if (name !== THEME) return value;
  const path = join(tmpdir(), "weft-theme.json");
  await writeFile(path, value, { mode: 0o600 });
  return path;
}
