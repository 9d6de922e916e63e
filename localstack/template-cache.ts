import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDataFolder } from "../lib/platform/data-folder.ts";
import { readTemplateFiles, type Template } from "./template.ts";

const FILE = "template-cache.json";
/** Incremented when the form of the cached template changes. */
const FORM = 4;

interface Cached {
  readonly form: number;
  /** The template's files, its own first, and the hash of their content. */
  readonly files: readonly string[];
  readonly hash: string;
  readonly template: Template;
}

/**
 * The template, from a cache if its text and that of its nested templates are unchanged: parsing YAML of this size takes
 * longer than the rest of a start. A cache that cannot be read or written is ignored.
 */
export function readTemplateOnce(path: string, dataDir: string): Template {
  const cached = readCache(dataDir);
  if (cached?.form === FORM && cached.files[0] === path && hashOf(cached.files) === cached.hash)
    return cached.template;
  const { template, files } = readTemplateFiles(path);
  try {
    makeDataFolder(dataDir);
    const hash = hashOf(files) ?? "";
    writeFileSync(
      join(dataDir, FILE),
      JSON.stringify({ form: FORM, files, hash, template } satisfies Cached),
      {
        mode: 0o600,
      },
    );
  } catch {
    // The start reports errors of the folder.
  }
  return template;
}

/** Undefined if one of the files does not exist. */
function hashOf(files: readonly string[]): string | undefined {
  const hash = createHash("sha256");
  try {
    for (const file of files) hash.update(createHash("sha256").update(readFileSync(file)).digest());
  } catch {
    return undefined;
  }
  return hash.digest("hex");
}

function readCache(dataDir: string): Cached | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, FILE), "utf8")) as Cached;
  } catch {
    return undefined;
  }
}
