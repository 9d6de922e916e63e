import { parseDocument } from "htmlparser2";
import { joinTexts, textsOf } from "./inline-texts.ts";
import type { Block, Inline, StyledText, TableContent } from "./read-blocks.ts";

type Node = ReturnType<typeof parseDocument>["children"][number];
type Element = Extract<Node, { attribs: unknown }>;
type Text = Extract<Node, { type: "text" }>;
type Styles = Readonly<Record<string, true>>;
type Cell = TableContent["rows"][number]["cells"][number];

const MARKS: Readonly<Record<string, string>> = {
  strong: "bold",
  b: "bold",
  em: "italic",
  i: "italic",
  u: "underline",
  s: "strike",
  code: "code",
};
const ALIGNED = /text-align:\s*(center|right|justify)/;
const BLOCKS: ReadonlySet<string> = new Set(
  "p h1 h2 h3 h4 h5 h6 blockquote pre ul ol table img hr div".split(" "),
);

/**
 * The blocks of the HTML that the readers of office documents write: well-formed, with the elements named here, and
 * with nothing of the file but text, addresses and formats. It takes a tenth of the time of the editor's own reader,
 * which needs a DOM. Images within a text become blocks after it; cells of the editor contain one text, so that their
 * paragraphs become its lines.
 */
export const officeBlocks = (html: string): Block[] => blocksOf(parseDocument(html).children);

const block = (
  type: string,
  content: Block["content"],
  props: Record<string, unknown> = {},
  children: Block[] = [],
): Block => ({ id: "", type, props, content, children });

function blocksOf(nodes: readonly Node[]): Block[] {
  const blocks: Block[] = [];
  let inline: Node[] = [];
  const endText = (): void => {
    blocks.push(...textual("paragraph", inline));
    inline = [];
  };
  for (const node of nodes) {
    if (!isBlock(node)) {
      inline.push(node);
      continue;
    }
    endText();
    blocks.push(...blockOf(node));
  }
  endText();
  return blocks;
}

function blockOf(element: Element): Block[] {
  const { name, attribs, children } = element;
  switch (name) {
    case "blockquote":
      return textual("quote", linesOf(children));
    case "pre":
      return [block("codeBlock", plainText(children), { language: "text" })];
    case "ul":
    case "ol":
      return listOf(element);
    case "table":
      return tableOf(element);
    case "img":
      return [imageOf(element)];
    case "hr":
      return [block("divider", undefined)];
    case "div":
      return blocksOf(children);
    default: {
      const alignment = ALIGNED.exec(attribs["style"] ?? "")?.[1];
      const props = alignment === undefined ? {} : { textAlignment: alignment };
      if (name === "p") return textual("paragraph", children, props);
      return textual("heading", children, { ...props, level: Number(name.slice(1)) });
    }
  }
}

/** A block with text, unless there is none, and the images in it. */
function textual(type: string, nodes: readonly Node[], props: Record<string, unknown> = {}): Block[] {
  const images: Block[] = [];
  const content = textOf(nodes, images);
  return [...(content.length === 0 ? [] : [block(type, content, props)]), ...images];
}

function listOf({ name, attribs, children }: Element): Block[] {
  const type = name === "ol" ? "numberedListItem" : "bulletListItem";
  const start = Number(attribs["start"] ?? 1);
  return children.filter(isElement).map((item, at) => {
    const props = name === "ol" && at === 0 && start !== 1 ? { start } : {};
    const [first, ...rest] = blocksOf(item.children);
    if (first?.type === "paragraph") return block(type, first.content, props, rest);
    return block(type, [], props, first === undefined ? [] : [first, ...rest]);
  });
}

function tableOf(table: Element): Block[] {
  const images: Block[] = [];
  const found = rowsOf(table).map(({ children }) =>
    children.filter((node) => isElement(node)).filter(({ name }) => name === "td" || name === "th"),
  );
  const given = found.filter((cells) => cells.length > 0);
  const bodyStart = given.findIndex((cells) => cells.some(({ name }) => name === "td"));
  const headerRows = bodyStart < 0 ? given.length : bodyStart;
  const rows = given.map((cells) => ({ cells: cells.map((cell) => cellOf(cell, images)) }));
  if (rows.length === 0) return images;
  const content: TableContent = {
    type: "tableContent",
    columnWidths: [],
    headerRows: headerRows === 0 ? undefined : headerRows,
    headerCols: undefined,
    rows,
  };
  return [block("table", content), ...images];
}

function cellOf({ attribs, children }: Element, images: Block[]): Cell {
  const spans = ["colspan", "rowspan"].flatMap((name) => {
    const count = Number(attribs[name] ?? 1);
    return Number.isInteger(count) && count > 1 ? [[name, count] as const] : [];
  });
  const content = textOf(linesOf(children), images);
  return { type: "tableCell", content, props: Object.fromEntries(spans) };
}

/** Rows of a table, also those within `thead` and `tbody`. */
const rowsOf = ({ children }: Element): Element[] =>
  children
    .filter(isElement)
    .flatMap((child) => (child.name === "tr" ? [child] : child.name.startsWith("t") ? rowsOf(child) : []));

/** What begins a line in a cell. */
const LINES: ReadonlySet<string> = new Set(
  "p h1 h2 h3 h4 h5 h6 blockquote pre ul ol li table thead tbody tr td th div".split(" "),
);
const LINE_BREAK = parseDocument("<br>").children;

/** The content of blocks as lines of one text. */
function linesOf(nodes: readonly Node[]): Node[] {
  const lines: Node[] = [];
  for (const node of nodes) {
    const isLine = isElement(node) && LINES.has(node.name);
    const inner = isLine ? linesOf(node.children) : [node];
    if (isLine && lines.length > 0 && inner.length > 0) lines.push(...LINE_BREAK);
    lines.push(...inner);
  }
  return lines;
}

const imageOf = ({ attribs: { src = "", alt = "" } }: Element): Block =>
  block("image", undefined, { url: src, ...(alt === "" ? {} : { name: alt }) });

/** Inline content; none if it is white space. Images are added to `images`. */
function textOf(nodes: readonly Node[], images: Block[]): Inline[] {
  const content = joinTexts(inlineOf(nodes, {}, images));
  return textsOf(content).some(({ text }) => text.trim() !== "") ? content : [];
}

const inlineOf = (nodes: readonly Node[], styles: Styles, images: Block[]): Inline[] =>
  nodes.flatMap((node): Inline[] => {
    if (!isElement(node)) return isTextNode(node) ? [styled(node.data.replace(/[\r\n]+/g, " "), styles)] : [];
    const { name, attribs, children } = node;
    if (name === "br") return [styled("\n", styles)];
    if (name === "img") {
      images.push(imageOf(node));
      return [];
    }
    const mark = Object.hasOwn(MARKS, name) ? MARKS[name] : undefined;
    const content = inlineOf(children, mark === undefined ? styles : { ...styles, [mark]: true }, images);
    const { href } = attribs;
    // What is marked in the document has no address in ours.
    if (name !== "a" || href === undefined || href === "" || href.startsWith("#")) return content;
    const texts = joinTexts(textsOf(content)) as StyledText[];
    return texts.length === 0 ? [] : [{ type: "link", href, content: texts }];
  });

const styled = (text: string, styles: Styles): StyledText => ({ type: "text", text, styles: { ...styles } });

/** The text of code. */
function plainText(nodes: readonly Node[]): Inline[] {
  const text = nodes.map(rawText).join("");
  return text === "" ? [] : [styled(text, {})];
}

function rawText(node: Node): string {
  if (isTextNode(node)) return node.data;
  if (!isElement(node)) return "";
  return node.name === "br" ? "\n" : node.children.map(rawText).join("");
}

const isTextNode = (node: Node): node is Text => node.type === "text";
const isElement = (node: Node): node is Element => "attribs" in node;
const isBlock = (node: Node): node is Element => isElement(node) && BLOCKS.has(node.name);
