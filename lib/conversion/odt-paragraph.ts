import { escapeHtml } from "../escape-html.ts";
import type { OdtFormat, OdtParagraphStyle } from "./odt-styles.ts";

/** A paragraph or a heading that is being read. */
export interface Paragraph {
  readonly tag: "p" | "blockquote" | `h${number}`;
  readonly isCode: boolean;
  readonly isLine: boolean;
  readonly align: string | undefined;
  /** The number of contexts that are open: text outside belongs to another paragraph. */
  readonly depth: number;
  /** The number of formats around it, which are those of the paragraph that it is anchored in. */
  readonly formats: number;
  html: string;
  plain: string;
  /** Whether all of the text has the format of code. */
  isAllCode: boolean;
  hasImage: boolean;
  /** Blocks that are anchored in it. */
  after: string;
}

/** `level` is that of a heading. */
export function newParagraph(
  { kind, align }: OdtParagraphStyle,
  level: number | undefined,
  depth: number,
  formats: number,
): Paragraph {
  return {
    tag: level !== undefined ? headingTag(level) : kind === "quote" ? "blockquote" : "p",
    isCode: kind === "code" && level === undefined,
    isLine: kind === "line",
    align,
    depth,
    formats,
    html: "",
    plain: "",
    isAllCode: true,
    hasImage: false,
    after: "",
  };
}

/** White space at the beginning of a line, and after other white space, is not part of the text. ODF 1.3, part 3, 6.1.2. */
export function collapseSpaces(text: string, paragraph: Paragraph | undefined): string {
  const collapsed = text.replace(/[ \t\r\n]+/g, " ");
  const isAfterSpace = /(?:^|[ \t\n])$/.test(paragraph?.plain.slice(-1) ?? "");
  return isAfterSpace && collapsed.startsWith(" ") ? collapsed.slice(1) : collapsed;
}

/** Adds text to a paragraph, and returns its HTML. */
export function addText(paragraph: Paragraph, text: string, format: OdtFormat): string {
  paragraph.plain += text;
  paragraph.isAllCode &&= format.code === true || text.trim() === "";
  let html = escapeHtml(text).replaceAll("\n", "<br>");
  if (format.code === true) html = `<code>${html}</code>`;
  if (format.underline === true) html = `<u>${html}</u>`;
  if (format.strike === true) html = `<s>${html}</s>`;
  if (format.italic === true) html = `<em>${html}</em>`;
  if (format.bold === true) html = `<strong>${html}</strong>`;
  paragraph.html += html;
  return html;
}

/** The element of a paragraph, without the white space at its end. */
export function paragraphHtml({ tag, align, html }: Paragraph): string {
  const style = align === undefined ? "" : ` style="text-align:${align}"`;
  return `<${tag}${style}>${html.replace(/ ((?:<\/[a-z]+>)*)$/, "$1")}</${tag}>`;
}

const headingTag = (level: number): `h${number}` => `h${level >= 1 && level <= 6 ? Math.trunc(level) : 6}`;
