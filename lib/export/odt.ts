import { type ListBuilder, OdtDocument, type ParagraphBuilder, type TextFormatting } from "odf-kit";
import { officeImage, shownSize } from "./image-size.ts";
import type { Alignment, Item, Node, Run } from "./nodes.ts";
import { correctOdt } from "./odt-corrections.ts";
import type { RenderedComment, Rendering } from "./rendering.ts";
import { commentsTitle, GRAY, languageOf } from "./texts.ts";

/** Width between the margins of a page, pixels at 96 per inch. */
const PAGE_WIDTH = 600;
const PIXELS_PER_CM = 96 / 2.54;
const CODE_FONT = "Liberation Mono";
const INDENT_CM = 1.25;
const BORDER = "0.5pt solid #767676";

type Options = { readonly indentLeft?: string; readonly align?: Exclude<Alignment, "left"> };

/** OpenDocument text. */
export async function writeOdt(rendering: Rendering, nodes: readonly Node[]): Promise<Uint8Array> {
  const { title, language, comments } = rendering;
  const document = new OdtDocument();
  document.setMetadata({ title, creator: "Weft" });
  document.addHeading(title, 1);
  for (const node of nodes) add(document, node, 0);
  if (comments.length > 0) document.addHeading(commentsTitle(language), 2);
  for (const comment of comments) addComment(document, comment);
  return correctOdt(await document.save(), {
    language: languageOf(language),
    headerRows: headerRowsOf(nodes),
  });
}

/** The number of header rows of each table, in the order in which they are written. */
const headerRowsOf = (nodes: readonly Node[]): number[] =>
  nodes.flatMap((node): number[] => {
    if (node.kind === "table") return [node.headerRows];
    if (node.kind === "list") return node.items.flatMap((item) => headerRowsOf(item.nodes));
    return node.kind === "callout" || node.kind === "indented" ? headerRowsOf(node.nodes) : [];
  });

function add(document: OdtDocument, node: Node, level: number): void {
  switch (node.kind) {
    case "heading":
      // The title of the document is the only heading of the first level.
      document.addHeading(
        (builder) => fill(builder, node.runs),
        Math.min(6, node.level + 1),
        placed(level, node.align),
      );
      return;
    case "paragraph":
      document.addParagraph((builder) => fill(builder, node.runs), placed(level, node.align));
      return;
    case "quote":
      document.addParagraph(
        (builder) =>
          fill(
            builder,
            node.runs.map((run) => ({ ...run, italic: true as const })),
          ),
        placed(level + 1, node.align),
      );
      return;
    case "callout": {
      const marked = node.emoji === "" ? node.runs : [{ text: `${node.emoji} ` }, ...node.runs];
      document.addParagraph((builder) => fill(builder, marked), {
        ...placed(level + 1, node.align),
        borderBottom: BORDER,
      });
      for (const inner of node.nodes) add(document, inner, level + 1);
      return;
    }
    case "list":
      addList(document, node, level);
      return;
    case "code":
      document.addParagraph((builder) => fill(builder, [{ text: node.text, code: true }]), placed(level));
      return;
    case "table":
      document.addTable(
        (builder) => {
          for (const cells of node.rows)
            builder.addRow((row) => {
              for (const { runs, isHeader, colspan, rowspan, background } of cells)
                row.addCell(
                  (cell) =>
                    fill(cell, isHeader ? runs.map((run) => ({ ...run, bold: true as const })) : runs),
                  {
                    ...(colspan > 1 ? { colSpan: colspan } : {}),
                    ...(rowspan > 1 ? { rowSpan: rowspan } : {}),
                    ...(background === undefined ? {} : { backgroundColor: background }),
                  },
                );
            });
        },
        { border: BORDER },
      );
      return;
    case "image":
      addImage(document, node, level);
      return;
    case "file": {
      const caption = node.caption === "" ? [] : [{ text: ` – ${node.caption}` }];
      const runs = [{ text: node.name, href: node.href }, ...caption];
      document.addParagraph((builder) => fill(builder, runs), placed(level));
      return;
    }
    case "indented":
      for (const inner of node.nodes) add(document, inner, level + 1);
      return;
    case "divider":
      document.addParagraph("", { borderBottom: BORDER });
      return;
    case "pageBreak":
      document.addPageBreak();
      return;
    default:
      node satisfies never;
  }
}

const placed = (level: number, align: Alignment = "left"): Options => ({
  ...(level === 0 ? {} : { indentLeft: `${level * INDENT_CM}cm` }),
  ...(align === "left" ? {} : { align }),
});

/** Lists contain text and lists. Other blocks below an item follow the list. */
function addList(document: OdtDocument, node: Extract<Node, { kind: "list" }>, level: number): void {
  if (node.items.every(isPlain)) {
    document.addList((builder) => fillList(builder, node), optionsOf(node));
    return;
  }
  // A number per list: the items in between would start again.
  for (const [at, item] of node.items.entries()) {
    const one = { ...node, start: node.start + at, items: [{ ...item, nodes: item.nodes.filter(isList) }] };
    document.addList((builder) => fillList(builder, one), optionsOf(one));
    for (const inner of item.nodes) if (!isList(inner)) add(document, inner, level + 1);
  }
}

const isList = (node: Node): node is Extract<Node, { kind: "list" }> => node.kind === "list";
const isPlain = ({ nodes }: Item): boolean =>
  nodes.every((node) => isList(node) && node.items.every(isPlain));

const optionsOf = ({ type, start }: Extract<Node, { kind: "list" }>) =>
  type === "numbered"
    ? ({ type: "numbered", numSuffix: ".", startValue: start } as const)
    : ({ type: "bullet" } as const);

function fillList(builder: ListBuilder, { items }: Extract<Node, { kind: "list" }>): void {
  for (const { isChecked, runs, nodes } of items) {
    const box = isChecked === undefined ? [] : [{ text: isChecked ? "☑ " : "☐ " }];
    builder.addItem((one) => fill(one, [...box, ...runs]));
    for (const node of nodes) if (isList(node)) builder.addNested((nested) => fillList(nested, node));
  }
}

function addImage(
  document: OdtDocument,
  { image: { type, bytes }, alt, caption, width }: Extract<Node, { kind: "image" }>,
  level: number,
): void {
  if (officeImage(type) === undefined) document.addParagraph(alt || "image", placed(level));
  else {
    const size = shownSize(bytes, width, PAGE_WIDTH);
    document.addImage(bytes, {
      mimeType: type,
      width: `${(size.width / PIXELS_PER_CM).toFixed(2)}cm`,
      height: `${(size.height / PIXELS_PER_CM).toFixed(2)}cm`,
      anchor: "as-character",
      alt,
    });
  }
  if (caption !== "") document.addParagraph(caption, placed(level));
}

/** The parts of a builder of a paragraph, an item or a cell. */
type Filled = Pick<ParagraphBuilder, "addText" | "addLink" | "addLineBreak"> | FilledCell;
interface FilledCell {
  addText(text: string, formatting?: TextFormatting): unknown;
  addLink(text: string, url: string, formatting?: TextFormatting): unknown;
  addLineBreak(): unknown;
}

function fill(builder: Filled, runs: readonly Run[]): void {
  for (const { text, href, bold, italic, underline, strike, code, color, background } of runs) {
    const formatting: TextFormatting = {
      ...(bold ? { bold } : {}),
      ...(italic ? { italic } : {}),
      ...(underline ? { underline } : {}),
      ...(strike ? { strikethrough: true } : {}),
      ...(code ? { fontFamily: CODE_FONT } : {}),
      ...(color === undefined ? {} : { color }),
      ...(background === undefined ? {} : { highlightColor: background }),
    };
    for (const [at, line] of text.split("\n").entries()) {
      if (at > 0) builder.addLineBreak();
      if (line === "") continue;
      if (href === undefined) builder.addText(line, formatting);
      else builder.addLink(line, href, formatting);
    }
  }
}

function addComment(document: OdtDocument, { author, at, text, isFirst, isResolved }: RenderedComment): void {
  const options = placed(isFirst ? 0 : 1);
  const head = [
    { text: author, bold: true as const },
    { text: ` ${at}${isResolved ? " ✓" : ""}`, color: GRAY },
  ];
  document.addParagraph((builder) => fill(builder, head), options);
  document.addParagraph((builder) => fill(builder, [{ text }]), options);
}
