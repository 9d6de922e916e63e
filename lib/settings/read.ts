import { readFileSync, statSync } from "node:fs";
import { documentSettings, RENAMED_SETTINGS } from "./document-settings.ts";
import { CONSUMER_SETTINGS } from "./function-settings.ts";
import { UNSUPPORTED_SETTINGS } from "./login-settings.ts";
import type { Setting } from "./setting-types.ts";
import { SECRETS, type SettingName, type SettingValues, settings } from "./settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Bytes. */
const SECRET_FILE_MAX = 64 * 1024;

/** Reads every setting. Throws an Error that names each invalid setting and says what to change. */
export function readSettings(given: Environment): SettingValues {
  const environment = { ...readBundle(given.DOCUMENT_SETTINGS), ...given };
  refuseRenamed(environment);
  refuseUnsupported(environment);
  const withSecrets = { ...environment, ...readSecretFiles(environment) };
  const values: Record<string, unknown> = {};
  const errors: string[] = [];
  for (const name of Object.keys(settings) as SettingName[]) {
    try {
      values[name] = readSetting(withSecrets, name);
    } catch (error) {
      errors.push((error as Error).message);
    }
  }
  if (errors.length > 0) throw new Error(errors.join("; "));
  return values as SettingValues;
}

/** Reads one setting of the environment. Throws an Error that names it. */
export function readSetting<Name extends SettingName>(
  environment: Environment,
  name: Name,
): SettingValues[Name] {
  const { type, default: fallback, acceptsEmpty }: Setting = settings[name];
  const text = (acceptsEmpty ? environment[name] : environment[name] || undefined) ?? fallback;
  try {
    return (text === undefined ? undefined : type.parse(text)) as SettingValues[Name];
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}

/** The settings in `DOCUMENT_SETTINGS`; a variable of the same name takes precedence. */
export function readBundle(text: string | undefined): Environment {
  if (text === undefined || text.trim() === "") return {};
  let bundle: unknown;
  try {
    bundle = JSON.parse(text);
  } catch {
    throw new Error("DOCUMENT_SETTINGS: must be valid JSON");
  }
  if (typeof bundle !== "object" || bundle === null || Array.isArray(bundle))
    throw new Error("DOCUMENT_SETTINGS: must be a JSON object of strings");
  for (const [name, value] of Object.entries(bundle)) {
    if (typeof value !== "string") throw new Error("DOCUMENT_SETTINGS: must be a JSON object of strings");
    const isKnown = [documentSettings, RENAMED_SETTINGS, UNSUPPORTED_SETTINGS].some((names) =>
      Object.hasOwn(names, name),
    );
    if (!isKnown || SECRETS.includes(name))
      throw new Error(
        `DOCUMENT_SETTINGS: must contain only document settings that are not secrets; remove ${name.slice(0, 100)}`,
      );
  }
  return bundle as Environment;
}

/** The environment of a consumer in Lambda, with those of `DOCUMENT_SETTINGS` that consumers read. */
export function consumerEnvironment(given: Environment): Environment {
  const bundle = Object.entries(readBundle(given.DOCUMENT_SETTINGS));
  const read = Object.fromEntries(bundle.filter(([name]) => CONSUMER_SETTINGS.has(name)));
  return { ...read, ...given, DOCUMENT_SETTINGS: undefined };
}

function refuseRenamed(environment: Environment): void {
  for (const [old, name] of Object.entries(RENAMED_SETTINGS)) {
    if (environment[old] || environment[`${old}_FILE`])
      throw new Error(`${old}: was renamed to ${name}; set ${name} instead`);
  }
}

function refuseUnsupported(environment: Environment): void {
  for (const [name, { accepts, instead }] of Object.entries(UNSUPPORTED_SETTINGS)) {
    const value = environment[name]?.toLowerCase();
    if (value && value !== accepts) throw new Error(`${name}: ${instead}`);
  }
}

/** The secrets whose `<NAME>_FILE` is set. Reference 7.1. */
function readSecretFiles(environment: Environment): Environment {
  const read: Record<string, string> = {};
  for (const name of SECRETS) {
    const path = environment[`${name}_FILE`];
    if (path === undefined || path === "") continue;
    if (environment[name]) throw new Error(`${name}: set either ${name} or ${name}_FILE, not both`);
    read[name] = readSecretFile(`${name}_FILE`, path);
  }
  return read;
}

function readSecretFile(setting: string, path: string): string {
  try {
    const file = statSync(path);
    if (file.isFile() && file.size <= SECRET_FILE_MAX) return readFileSync(path, "utf8").trim();
  } catch {
    throw new Error(`${setting}: must be the path of a readable file`);
  }
  throw new Error(`${setting}: must be the path of a file of at most ${SECRET_FILE_MAX / 1024} KB`);
}
