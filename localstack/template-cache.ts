import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTemplate, type Template } from "./template.ts";

const FILE = "template-cache.json";
/** Moves when a template is read in another form. */
const FORM = 1;

interface Cached {
  readonly form: number;
  readonly hash: string;
  readonly template: Template;
}

/**
 * A template as it was read at the last start with the same text: parsing YAML of this size takes longer than
 * all else of a start. The text decides; a cache that cannot be read or written is as if there were none.
 */
export function readTemplateOnce(path: string, dataDir: string): Template {
  const hash = createHash("sha256").update(readFileSync(path)).digest("hex");
  const cached = readCache(dataDir);
  if (cached?.form === FORM && cached.hash === hash) return cached.template;
  const template = readTemplate(path);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(join(dataDir, FILE), JSON.stringify({ form: FORM, hash, template } satisfies Cached), {
      mode: 0o600,
    });
  } catch {
    // The start says what is wrong with the folder.
  }
  return template;
}

function readCache(dataDir: string): Cached | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, FILE), "utf8")) as Cached;
  } catch {
    return undefined;
  }
}
