import { Lexer, type Token, type Tokens } from "marked";
import { isFenceLanguage, restoreFencedBlocks } from "./fenced-blocks.ts";
import { joinTexts, trimTexts } from "./inline-texts.ts";
import { checkNesting } from "./markdown-nesting.ts";
import type { Block, Inline, StyledText, TableContent } from "./read-blocks.ts";

/** Lists and quotes that are nested deeper are read as their text. */
const LEVELS_MAX = 60;

type Styles = Readonly<Record<string, true>>;

/** Converts the HTML that a Markdown text contains. */
export type ReadHtml = (html: string) => Promise<Block[]>;

/**
 * The blocks of a Markdown text: CommonMark with the tables, checklists and strikethrough of GitHub. Images within a
 * text become blocks after it. Throws ContentError if it is nested too deeply.
 */
export async function markdownBlocks(text: string, readHtml: ReadHtml): Promise<Block[]> {
  checkNesting(text);
  const tokens = new Lexer({ gfm: true }).lex(text);
  return withIds(restoreFencedBlocks(await new MarkdownReader(readHtml).blocks(tokens, 0)));
}

const block = (
  type: string,
  content: Block["content"],
  props: Record<string, unknown> = {},
  children: Block[] = [],
): Block => ({ id: "", type, props, content, children });

/** Restored blocks have no ids: they get them when they are written. */
const withIds = (blocks: readonly Block[]): Block[] =>
  blocks.map((one) => ({ ...one, id: one.id ?? "", children: withIds(one.children) }));

const HEADING_MAX = 6;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi;

/** Text with the entities that writers of Markdown use. */
const decoded = (text: string): string =>
  text.replace(ENTITY, (entity, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "\ufffd";
  });

class MarkdownReader {
  readonly #readHtml: ReadHtml;

  constructor(readHtml: ReadHtml) {
    this.#readHtml = readHtml;
  }

  async blocks(tokens: readonly Token[], level: number): Promise<Block[]> {
    const found: Block[] = [];
    for (const token of joinHtml(tokens)) for (const one of await this.#block(token, level)) found.push(one);
    return found;
  }

  async #block(token: Token, level: number): Promise<Block[]> {
    switch (token.type) {
      case "heading":
        return this.#textual("heading", token as Tokens.Heading, {
          level: Math.min((token as Tokens.Heading).depth, HEADING_MAX),
        });
      case "paragraph":
      case "text":
        return this.#textual("paragraph", token as Tokens.Paragraph);
      case "code":
        return [code(token as Tokens.Code)];
      case "hr":
        return [block("divider", undefined)];
      case "blockquote":
        return this.#quote(token as Tokens.Blockquote, level);
      case "list":
        return this.#list(token as Tokens.List, level);
      case "table":
        return this.#table(token as Tokens.Table);
      case "html":
        return this.#readHtml((token as Tokens.HTML).text);
      default:
        return [];
    }
  }

  /** A block with text, and the images in it. A paragraph that contains only images is none. */
  #textual(
    type: string,
    { tokens = [] }: { tokens?: Token[] },
    props: Record<string, unknown> = {},
  ): Block[] {
    const images: Block[] = [];
    const content = trimmed(inlineOf(tokens, {}, images));
    if (content.length === 0 && images.length > 0 && type === "paragraph") return images;
    return [block(type, content, props), ...images];
  }

  async #quote({ tokens, text }: Tokens.Blockquote, level: number): Promise<Block[]> {
    if (level >= LEVELS_MAX) return [block("quote", [styled(text, {})])];
    const inner = await this.blocks(tokens, level + 1);
    const quotes: Block[] = [];
    for (const one of inner) {
      const last = quotes.at(-1);
      const isText = one.type === "paragraph" && Array.isArray(one.content);
      if (isText && last?.type === "quote" && Array.isArray(last.content) && last.children.length === 0)
        last.content.push(styled("\n", {}), ...(one.content as Inline[]));
      else if (isText) quotes.push({ ...one, type: "quote", props: {} });
      else quotes.push(one);
    }
    return quotes;
  }

  async #list({ items, ordered, start }: Tokens.List, level: number): Promise<Block[]> {
    const found: Block[] = [];
    for (const [at, item] of items.entries()) {
      const isChecked = item.task === true;
      const type = isChecked ? "checkListItem" : ordered ? "numberedListItem" : "bulletListItem";
      const first = ordered && !isChecked && at === 0 && typeof start === "number" && start !== 1;
      const props = { ...(isChecked ? { checked: item.checked === true } : {}), ...(first ? { start } : {}) };
      if (level >= LEVELS_MAX) {
        found.push(block(type, [styled(item.text, {})], props));
        continue;
      }
      const tokens = item.tokens.filter((token) => token.type !== "checkbox");
      const [head, ...rest] = await this.blocks(tokens, level + 1);
      const isText = head !== undefined && head.type === "paragraph" && Array.isArray(head.content);
      const children = isText ? rest : head === undefined ? [] : [head, ...rest];
      found.push(block(type, isText ? head.content : [], props, children));
    }
    return found;
  }

  #table({ header, rows, align }: Tokens.Table): Block[] {
    const images: Block[] = [];
    const toCell = (
      { tokens }: Tokens.TableCell,
      column: number,
    ): TableContent["rows"][number]["cells"][number] => ({
      type: "tableCell",
      content: trimmed(inlineOf(tokens, {}, images)),
      props: align[column] ? { textAlignment: align[column] } : {},
    });
    const all = [header, ...rows].map((cells) => ({ cells: cells.map(toCell) }));
    const content: TableContent = {
      type: "tableContent",
      columnWidths: [],
      headerRows: 1,
      headerCols: undefined,
      rows: all,
    };
    return [block("table", content), ...images];
  }
}

/** Neighboring HTML as one: an element may contain empty lines. */
function joinHtml(tokens: readonly Token[]): Token[] {
  const joined: Token[] = [];
  for (const token of tokens) {
    const last = joined.at(-1);
    if (token.type === "html" && last?.type === "html")
      joined[joined.length - 1] = {
        ...last,
        text: `${(last as Tokens.HTML).text}${(token as Tokens.HTML).text}`,
      } as Token;
    else if (token.type !== "space" || last?.type !== "html") joined.push(token);
  }
  return joined;
}

function code({ text, lang = "" }: Tokens.Code): Block {
  const language = isFenceLanguage(lang) ? lang : (/^[\w+#.-]{1,40}/.exec(lang)?.[0] ?? "text");
  return block("codeBlock", text === "" ? [] : [styled(text, {})], { language });
}

const styled = (text: string, styles: Styles): StyledText => ({ type: "text", text, styles: { ...styles } });

const MARKS: Readonly<Record<string, string>> = { strong: "bold", em: "italic", del: "strike" };
/** Inline HTML that has a meaning in the editor. */
const TAGS: Readonly<Record<string, string>> = {
  b: "bold",
  strong: "bold",
  i: "italic",
  em: "italic",
  u: "underline",
  ins: "underline",
  s: "strike",
  del: "strike",
  code: "code",
};

/** The content of inline tokens; images are added to `images`. */
function inlineOf(tokens: readonly Token[], outer: Styles, images: Block[]): Inline[] {
  const content: Inline[] = [];
  let styles = outer;
  for (const token of tokens) {
    const mark = MARKS[token.type];
    if (mark !== undefined && "tokens" in token) {
      content.push(...inlineOf(token.tokens ?? [], { ...styles, [mark]: true }, images));
      continue;
    }
    switch (token.type) {
      case "text":
        if ("tokens" in token && token.tokens !== undefined)
          content.push(...inlineOf(token.tokens, styles, images));
        else content.push(styled(decoded((token as Tokens.Text).raw), styles));
        break;
      case "escape":
        content.push(styled((token as Tokens.Escape).text, styles));
        break;
      case "codespan":
        content.push(styled((token as Tokens.Codespan).text, { ...styles, code: true }));
        break;
      case "br":
        content.push(styled("\n", styles));
        break;
      case "link": {
        const { href, tokens: inner = [] } = token as Tokens.Link;
        const text = inlineOf(inner, styles, images).flatMap((one) =>
          one.type === "text" ? [one as StyledText] : [],
        );
        if (text.length > 0) content.push({ type: "link", href: decoded(href), content: text });
        break;
      }
      case "image": {
        const { href, text, title } = token as Tokens.Image;
        images.push(
          block("image", undefined, {
            url: decoded(href),
            name: decoded(text),
            caption: decoded(title ?? ""),
          }),
        );
        break;
      }
      case "checkbox":
        break;
      case "html":
        styles = withTag((token as Tokens.Tag).raw, styles, outer, content);
        break;
      default:
        content.push(styled(token.raw, styles));
    }
  }
  return content;
}

/** Applies a tag within text: other tags and comments are left out, their text stays. */
function withTag(raw: string, styles: Styles, outer: Styles, content: Inline[]): Styles {
  const [, slash, name = ""] = /^<(\/?)([a-z][a-z0-9]*)/i.exec(raw) ?? [];
  const tag = name.toLowerCase();
  if (tag === "br") content.push(styled("\n", styles));
  const mark = Object.hasOwn(TAGS, tag) ? TAGS[tag] : undefined;
  if (mark === undefined) return styles;
  if (slash !== "/") return { ...styles, [mark]: true };
  const { [mark]: _, ...rest } = styles;
  return outer[mark] === true ? styles : rest;
}

/** The content without spaces around it; a line break within a paragraph is a space. */
const trimmed = (content: readonly Inline[]): Inline[] => trimTexts(joinTexts(content));
