import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDataFolder } from "../lib/platform/data-folder.ts";
import { readTemplateFiles, type Template } from "./template.ts";

const FILE = "template-cache.json";
/** Moves when a template is read in another form. */
const FORM = 4;

interface Cached {
  readonly form: number;
  /** The template's files, its own first, and the hash of what they held. */
  readonly files: readonly string[];
  readonly hash: string;
  readonly template: Template;
}

/**
 * A template as it was read at the last start with the same text: parsing YAML of this size takes longer than
 * all else of a start. The text decides, that of nested templates too; a cache that cannot be read or written
 * is as if there were none.
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
    // The start says what is wrong with the folder.
  }
  return template;
}

/** Undefined where one of the files is gone. */
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
