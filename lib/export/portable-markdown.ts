import { fencedBlock, isFenceLanguage } from "../conversion/fenced-blocks.ts";
import { type Block, type Inline, isLink, isText, type TableContent } from "../conversion/read-blocks.ts";

/** Props that every block of the editor has, with the values that Markdown means. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  backgroundColor: "default",
  textColor: "default",
  textAlignment: "left",
};
const MARKS = { bold: "**", italic: "*", strike: "~~" } as const;
const LISTS: ReadonlySet<string> = new Set(["bulletListItem", "numberedListItem", "checkListItem"]);
/** White space and control characters that HTML or Markdown would change. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this finds
const UNSTABLE = /^\s|\s$|\s\s|[\u0000-\u001f\u007f\u2028\u2029]/;
const SPECIAL = /[\\`*_[\]~|]/g;
const ENTITY = /&(?=(?:lt|gt|amp|quot);)/g;

/**
 * Markdown from which the editor's parser makes the same blocks. A block that Markdown cannot express is a fenced block
 * with its JSON. Empty paragraphs at the end are omitted.
 */
export function writePortableMarkdown(blocks: readonly Block[]): string {
  let end = blocks.length;
  while (end > 0 && isEmptyParagraph(blocks[end - 1] as Block)) end -= 1;
  const text = writeBlocks(blocks.slice(0, end), "");
  return text === "" ? "" : `${text}\n`;
}

function writeBlocks(blocks: readonly Block[], indent: string): string {
  let written = "";
  let before: string | undefined;
  let number = 0;
  for (const block of blocks) {
    const shown = expressed(block, before === "numberedListItem" ? number + 1 : 1, indent);
    // A number belongs to the list that it continues.
    const type = shown === undefined ? undefined : block.type;
    number = type === "numberedListItem" ? (before === type ? number + 1 : 1) : 0;
    const isSameList = type !== undefined && LISTS.has(type) && type === before;
    const separator = before === undefined && written === "" ? "" : isSameList ? "\n" : "\n\n";
    written += separator + (shown ?? indented(fencedBlock(block), indent));
    before = type ?? "";
  }
  return written;
}

const indented = (text: string, indent: string): string =>
  text
    .split("\n")
    .map((line) => indent + line)
    .join("\n");

/** A block as Markdown; undefined if Markdown cannot express it. */
function expressed(block: Block, number: number, indent: string): string | undefined {
  const { type, props, content, children } = block;
  if (children.length > 0 && !LISTS.has(type)) return undefined;
  switch (type) {
    case "paragraph": {
      const text = hasOnly(props, {}) ? inline(content) : undefined;
      return text === undefined || text === "" ? undefined : indent + atStart(text);
    }
    case "heading": {
      const level = Number(props["level"]);
      const isPlain = hasOnly(props, { level, isToggleable: false }) && level >= 1 && level <= 6;
      const text = isPlain ? inline(content) : undefined;
      return text === undefined || text === "" || /#$/.test(text)
        ? undefined
        : `${indent}${"#".repeat(level)} ${text}`;
    }
    case "quote": {
      const text = hasOnly(props, {}) ? inline(content) : undefined;
      return text === undefined || text === "" ? undefined : `${indent}> ${atStart(text)}`;
    }
    case "codeBlock":
      return indent === "" ? code(block) : undefined;
    case "divider":
      return indent === "" && Object.keys(props).length === 0 ? "---" : undefined;
    case "image":
      return image(props, indent);
    case "table":
      return indent === "" && content !== undefined && !Array.isArray(content) && hasOnly(props, {})
        ? table(content)
        : undefined;
    case "bulletListItem":
      return hasOnly(props, {}) ? item(block, "- ", indent) : undefined;
    case "checkListItem": {
      const checked = props["checked"];
      if (typeof checked !== "boolean" || !hasOnly(props, { checked })) return undefined;
      return item(block, checked ? "- [x] " : "- [ ] ", indent);
    }
    case "numberedListItem":
      return hasOnly(props, { start: undefined }) ? item(block, `${number}. `, indent) : undefined;
    default:
      return undefined;
  }
}

/** Whether all props have these values, or the ones that every block has. */
function hasOnly(props: Readonly<Record<string, unknown>>, own: Readonly<Record<string, unknown>>): boolean {
  const expected = { ...DEFAULTS, ...own };
  return Object.entries(props).every(([name, value]) =>
    Object.hasOwn(expected, name) ? Object.is(expected[name], value) : value === undefined,
  );
}

function item({ content, children }: Block, marker: string, indent: string): string | undefined {
  const text = inline(content);
  if (text === undefined || text === "") return undefined;
  const own = `${indent}${marker}${atStart(text)}`;
  if (children.length === 0) return own;
  if (!children.every(({ type }) => LISTS.has(type))) return undefined;
  const below = `${indent}${" ".repeat(marker.startsWith("-") ? 2 : marker.length)}`;
  const written: string[] = [];
  let [before, number] = ["", 0];
  for (const child of children) {
    number = child.type === before ? number + 1 : 1;
    const shown = expressed(child, number, below);
    if (shown === undefined || (before !== "" && child.type !== before)) return undefined;
    written.push(shown);
    before = child.type;
  }
  return [own, ...written].join("\n");
}

function code({ props, content }: Block): string | undefined {
  const { language } = props;
  const isNamed =
    typeof language === "string" && /^[\w+#.-]{1,40}$/.test(language) && !isFenceLanguage(language);
  if (!isNamed || !hasOnly(props, { language }) || !Array.isArray(content)) return undefined;
  if (!content.every((one) => isText(one) && Object.keys(one.styles).length === 0)) return undefined;
  const text = content.map((one) => (isText(one) ? one.text : "")).join("");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: HTML does not contain them
  if (text === "" || /^\n|\n$|[\u0000-\u0008\u000b-\u001f\u007f\u2028\u2029]/.test(text)) return undefined;
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function image(props: Readonly<Record<string, unknown>>, indent: string): string | undefined {
  const { url, name } = props;
  const isPlain =
    indent === "" &&
    typeof url === "string" &&
    typeof name === "string" &&
    hasOnly(props, { url, name, caption: "", showPreview: true, previewWidth: undefined });
  if (!isPlain || !isStableUrl(url) || UNSTABLE.test(name) || /[\\[\]<>&"]/.test(name)) return undefined;
  return `![${name}](${url})`;
}

function table({ rows, headerRows, headerCols, columnWidths }: TableContent): string | undefined {
  const columns = rows[0]?.cells.length ?? 0;
  if (headerRows !== 1 || headerCols !== undefined || columns === 0) return undefined;
  if (columnWidths.some((width) => width !== undefined && width !== null)) return undefined;
  const lines: string[] = [];
  for (const { cells } of rows) {
    if (cells.length !== columns) return undefined;
    const texts = cells.map(({ content, props }) =>
      hasOnly(props, { colspan: 1, rowspan: 1 }) ? inline(content) : undefined,
    );
    if (texts.includes(undefined)) return undefined;
    lines.push(`| ${texts.join(" | ")} |`);
  }
  return [lines[0], `|${" --- |".repeat(columns)}`, ...lines.slice(1)].join("\n");
}

/** Inline content as Markdown; undefined if Markdown cannot express it. */
function inline(content: Block["content"]): string | undefined {
  if (content === undefined) return "";
  if (!Array.isArray(content)) return undefined;
  const whole = content.map(plainText).join("");
  if (UNSTABLE.test(whole)) return undefined;
  let written = "";
  let isStyledBefore = false;
  for (const one of content) {
    const shown = inlinePart(one);
    if (shown === undefined || (shown.isStyled && isStyledBefore)) return undefined;
    // An exclamation mark before a link would make it an image.
    if (isLink(one)) written = written.replace(/!$/, "\\!");
    written += shown.text;
    isStyledBefore = shown.isStyled;
  }
  return written;
}

const plainText = (one: Inline): string =>
  isText(one) ? one.text : isLink(one) ? one.content.map(({ text }) => text).join("") : "";

function inlinePart(one: Inline): { readonly text: string; readonly isStyled: boolean } | undefined {
  if (isLink(one)) {
    const [text, ...more] = one.content;
    if (text === undefined || more.length > 0 || Object.keys(text.styles).length > 0) return undefined;
    if (text.text.trim() === "" || UNSTABLE.test(text.text) || !isStableUrl(one.href)) return undefined;
    return { text: `[${literal(text.text)}](${one.href})`, isStyled: true };
  }
  if (!isText(one)) return undefined;
  const styles = Object.entries(one.styles).filter(([, value]) => value !== undefined);
  if (one.text === "") return undefined;
  if (styles.length === 0) return { text: literal(one.text), isStyled: false };
  if (styles.some(([, value]) => value !== true) || UNSTABLE.test(one.text)) return undefined;
  const names = styles.map(([name]) => name);
  if (names.includes("code"))
    return names.length === 1 && !one.text.includes("`")
      ? { text: `\`${one.text}\``, isStyled: true }
      : undefined;
  if (/[\\`*_~[\]|]/.test(one.text)) return undefined;
  let text = literal(one.text);
  for (const name of ["strike", "italic", "bold"] as const)
    if (names.includes(name)) text = MARKS[name] + text + MARKS[name];
  return names.every((name) => Object.hasOwn(MARKS, name)) ? { text, isStyled: true } : undefined;
}

const isStableUrl = (url: string): boolean =>
  /^[^\s<>()\\"'`|&]+$|^[^\s<>()\\"'`|&]+(?:&(?!(?:lt|gt|amp|quot);)[^\s<>()\\"'`|&]*)+$/.test(url) &&
  /^(?:https?:\/\/|mailto:|(?![a-z][a-z0-9+.-]*:)[\w%./#?-])/i.test(url);

const literal = (text: string): string =>
  text.replace(SPECIAL, "\\$&").replace(ENTITY, "&amp;").replaceAll("<", "&lt;");

/** Escapes what Markdown interprets only at the start of a line. */
const atStart = (text: string): string =>
  text
    .replace(/^([#>+=-])/, (mark) => (mark === "=" ? mark : `\\${mark}`))
    .replace(/^(\d{1,9})([.)])/, "$1\\$2");

const isEmptyParagraph = ({ type, content, children }: Block): boolean =>
  type === "paragraph" &&
  children.length === 0 &&
  (content === undefined || (Array.isArray(content) && content.length === 0));
