import { parse } from "yaml";

/** What the front matter of a Markdown file says about its document. */
export interface FrontMatter {
  readonly title?: string;
  /** Among its siblings. */
  readonly position?: number;
}

const MAX_LENGTH = 8_192;
const TITLE_MAX_LENGTH = 255;
const BLOCK = /^---[ \t]*\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/;

/**
 * Separates the front matter of a Markdown file from its text. A block that is no YAML mapping belongs to the text: a
 * file may begin with a divider.
 */
export function readFrontMatter(text: string): { readonly matter?: FrontMatter; readonly text: string } {
  const [block, yaml] = BLOCK.exec(text.slice(0, MAX_LENGTH)) ?? [];
  if (block === undefined || yaml === undefined) return { text };
  let parsed: unknown;
  try {
    parsed = yaml.trim() === "" ? {} : parse(yaml, { maxAliasCount: 0, logLevel: "error" });
  } catch {
    return { text };
  }
  if (parsed === null || typeof parsed !== "object" || Array.isArray(parsed)) return { text };
  const { title, position, emoji } = parsed as Record<string, unknown>;
  const name = typeof title === "string" || typeof title === "number" ? String(title).trim() : "";
  const mark = typeof emoji === "string" && emoji !== "" && !name.startsWith(emoji) ? `${emoji} ` : "";
  return {
    matter: {
      ...(name === "" ? {} : { title: `${mark}${name}`.slice(0, TITLE_MAX_LENGTH).toWellFormed() }),
      ...(Number.isSafeInteger(position) ? { position: position as number } : {}),
    },
    text: text.slice(block.length),
  };
}
