import { isSafeUrl } from "./sanitize.ts";

type Part = Record<string, unknown>;

/** Text that Markdown would parse as HTML; its end may be in the next part of the line. */
const TAG = /<(?=[a-z/!?]|$)/gi;
const LINK = /\](?=[(:[]|$)/g;
const ENTITY = /&(?=#?\w{0,31}(?:;|$))/g;

const escaped = (text: string): string =>
  text.replace(ENTITY, "&amp;").replace(TAG, "&lt;").replace(LINK, "\\]");

/** Transformations of a block's texts, by kind. */
interface Change {
  /** Inline code. */
  code(text: string): string;
  text(text: string): string;
  link(url: string): string;
  media(url: string): string;
  language(name: string): string;
}

/**
 * Prepares blocks for conversion to Markdown, which does not escape: makes texts literal, and removes unsafe URLs of
 * links and media.
 */
export const makeSafeForMarkdown = (blocks: unknown): void =>
  change(blocks, {
    // Inline code is fenced if it is one line; in a code block, only the info string is not.
    code: (text) => text.replace(/\s*[\r\n]\s*/g, " "),
    text: escaped,
    link: urlOf,
    // Inserted unescaped between parentheses.
    media: (url) => urlOf(url).replaceAll("(", "%28").replaceAll(")", "%29"),
    language: (name) => name.replace(/[^\w+#.-]/g, "").slice(0, 40),
  });

/** Removes unsafe URLs of links and media. */
export const removeUnsafeUrls = (blocks: unknown): void => {
  const safe = (url: string): string => (isSafeUrl(url) ? url : "");
  change(blocks, { code: same, text: same, link: safe, media: safe, language: same });
};

const MEANT: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };
const meant = (text: string): string =>
  text.replace(/&(lt|gt|amp|quot);/g, (entity, name: string) => MEANT[name] ?? entity);
const same = (text: string): string => text;

/** Decodes the entities that the Markdown parser leaves in newly parsed blocks. */
export const readEntities = (blocks: unknown): void =>
  change(blocks, { code: same, text: meant, link: meant, media: meant, language: same });

function change(blocks: unknown, to: Change): void {
  const left: unknown[] = [blocks];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (one === null || typeof one !== "object") continue;
    const part = one as Part;
    if (part.type === "codeBlock") {
      const props = (part.props ?? {}) as Part;
      if (typeof props.language === "string") props.language = to.language(props.language);
      if (part.children !== undefined) left.push(part.children);
      continue;
    }
    const isCode = (part.styles as Part | null | undefined)?.code === true;
    for (const [name, inner] of Object.entries(part)) {
      if (typeof inner !== "string") {
        if (inner !== undefined) left.push(inner);
      } else if (name === "href") part[name] = to.link(inner);
      else if (name === "url") part[name] = to.media(inner);
      else if (name === "text" && part.type === "text") part[name] = isCode ? to.code(inner) : to.text(inner);
      else if (name === "name" || name === "caption") part[name] = to.text(inner);
    }
  }
}

function urlOf(url: string): string {
  if (!isSafeUrl(url)) return "";
  const encoded = url.replace(/[\s<>"`]/g, (character) => encodeURIComponent(character));
  return encoded.replace(ENTITY, "&amp;");
}
