import {
  AlignmentType,
  BorderStyle,
  Document,
  ExternalHyperlink,
  HeadingLevel,
  ImageRun,
  type IParagraphOptions,
  type IRunOptions,
  LevelFormat,
  Packer,
  PageBreak,
  Paragraph,
  type ParagraphChild,
  ShadingType,
  Table,
  TableCell,
  TableRow,
  TextRun,
  WidthType,
} from "docx";
import { officeImage, shownSize } from "./image-size.ts";
import type { Alignment, Cell, Item, Node, Run } from "./nodes.ts";
import type { RenderedComment, Rendering } from "./rendering.ts";
import { commentsTitle, GRAY, languageOf } from "./texts.ts";

/** Twentieths of a point. */
const INDENT = 720;
const LEVEL_MAX = 8;
/** Width between the margins of a page, pixels at 96 per inch. */
const PAGE_WIDTH = 600;
/** Width between the margins, twentieths of a point. */
const TABLE_WIDTH = 9026;
const CODE_FONT = "Courier New";
/** Styles by which other programs, and the import, know code and quotes. */
const CODE_BLOCK = { id: "SourceCode", name: "Source Code" } as const;
const QUOTE = { id: "Quote", name: "Quote" } as const;
const CODE_TEXT = { id: "SourceText", name: "Source Text" } as const;

const HEADINGS = [
  HeadingLevel.HEADING_1,
  HeadingLevel.HEADING_2,
  HeadingLevel.HEADING_3,
  HeadingLevel.HEADING_4,
  HeadingLevel.HEADING_5,
  HeadingLevel.HEADING_6,
] as const;
const ALIGNMENTS = {
  left: AlignmentType.START,
  center: AlignmentType.CENTER,
  right: AlignmentType.END,
  justify: AlignmentType.JUSTIFIED,
} as const satisfies Record<Alignment, unknown>;
const BULLETS = ["•", "◦", "▪"];

type Part = Paragraph | Table;
/** Where a block is: how far it is indented, and the list that its text belongs to. */
interface Place {
  readonly level: number;
}

/** Office Open XML for word processors. */
export async function writeDocx(rendering: Rendering, nodes: readonly Node[]): Promise<Uint8Array> {
  const { title, language, comments } = rendering;
  const writer = new Writer();
  const children = [
    new Paragraph({ heading: HeadingLevel.TITLE, children: [new TextRun(title)] }),
    ...writer.parts(nodes, { level: 0 }),
    ...appendix(comments, language),
  ];
  const document = new Document({
    title,
    creator: "Weft",
    description: "",
    styles: {
      default: { document: { run: { language: { value: languageOf(language) } } } },
      paragraphStyles: [
        { ...CODE_BLOCK, basedOn: "Normal", run: { font: CODE_FONT } },
        { ...QUOTE, basedOn: "Normal" },
      ],
      characterStyles: [{ ...CODE_TEXT, basedOn: "DefaultParagraphFont", run: { font: CODE_FONT } }],
    },
    numbering: { config: writer.numbering() },
    sections: [{ children }],
  });
  return new Uint8Array(await Packer.toBuffer(document));
}

class Writer {
  /** Number of numbered lists by their first number. Lists of one first number share their format. */
  readonly #lists = new Map<number, number>();

  parts(nodes: readonly Node[], place: Place): Part[] {
    return nodes.flatMap((node) => this.#part(node, place));
  }

  /** The formats of all lists of the document. */
  numbering() {
    const levels = (format: (level: number) => object) =>
      Array.from({ length: LEVEL_MAX + 1 }, (_, level) => ({
        level,
        alignment: AlignmentType.START,
        style: { paragraph: { indent: { left: INDENT * (level + 1), hanging: 360 } } },
        ...format(level),
      }));
    const bullets = {
      reference: "bullets",
      levels: levels((level) => ({ format: LevelFormat.BULLET, text: BULLETS[level % BULLETS.length] })),
    };
    const numbered = [...this.#lists.keys()].map((start) => ({
      reference: `numbers-${start}`,
      levels: levels((level) => ({ format: LevelFormat.DECIMAL, text: `%${level + 1}.`, start })),
    }));
    return [bullets, ...numbered] as never;
  }

  #part(node: Node, place: Place): Part[] {
    const indent = place.level === 0 ? {} : { indent: { left: INDENT * place.level } };
    switch (node.kind) {
      case "heading": {
        const heading = HEADINGS[node.level - 1] ?? HeadingLevel.HEADING_6;
        return [paragraph(node.runs, { ...indent, heading, alignment: ALIGNMENTS[node.align] })];
      }
      case "paragraph":
        return [paragraph(node.runs, { ...indent, alignment: ALIGNMENTS[node.align] })];
      case "quote": {
        const border = { left: { style: BorderStyle.SINGLE, size: 18, space: 8, color: "767676" } };
        const options = { style: QUOTE.id, indent: { left: INDENT * (place.level + 0.5) }, border };
        return [paragraph(node.runs, { ...options, alignment: ALIGNMENTS[node.align] })];
      }
      case "callout": {
        const marked = node.emoji === "" ? node.runs : [{ text: `${node.emoji} ` }, ...node.runs];
        const shading = { type: ShadingType.CLEAR, fill: "F3F3F3" };
        return [
          paragraph(marked, { ...indent, shading, alignment: ALIGNMENTS[node.align] }),
          ...this.parts(node.nodes, { level: place.level + 1 }),
        ];
      }
      case "list":
        return this.#list(node, place);
      case "code":
        return [
          paragraph([{ text: node.text }], {
            ...indent,
            style: CODE_BLOCK.id,
            shading: { type: ShadingType.CLEAR, fill: "F3F3F3" },
          }),
        ];
      case "table":
        return [table(node), new Paragraph({})];
      case "image":
        return image(node, indent);
      case "file": {
        const caption = node.caption === "" ? [] : [{ text: ` – ${node.caption}` }];
        return [paragraph([{ text: node.name, href: node.href }, ...caption], indent)];
      }
      case "indented":
        return this.parts(node.nodes, { level: place.level + 1 });
      case "divider":
        return [
          new Paragraph({
            border: { bottom: { style: BorderStyle.SINGLE, size: 6, space: 1, color: "767676" } },
          }),
        ];
      case "pageBreak":
        return [new Paragraph({ children: [new PageBreak()] })];
      default:
        return node satisfies never;
    }
  }

  #list({ type, start, items }: Extract<Node, { kind: "list" }>, place: Place): Part[] {
    const level = Math.min(place.level, LEVEL_MAX);
    const numbering =
      type === "numbered" ? { ...this.#numbers(start), level } : { reference: "bullets", level };
    return items.flatMap((item: Item) => {
      const box = item.isChecked === undefined ? [] : [{ text: item.isChecked ? "☑ " : "☐ " }];
      const options =
        type === "check" ? { indent: { left: INDENT * (level + 1), hanging: 360 } } : { numbering };
      return [
        paragraph([...box, ...item.runs], { ...options, alignment: ALIGNMENTS[item.align] }),
        ...this.parts(item.nodes, { level: place.level + 1 }),
      ];
    });
  }

  /** The format of a numbered list, and the instance of it that begins with `start`. */
  #numbers(start: number): { readonly reference: string; readonly instance: number } {
    const instance = this.#lists.get(start) ?? 0;
    this.#lists.set(start, instance + 1);
    return { reference: `numbers-${start}`, instance };
  }
}

const paragraph = (runs: readonly Run[], options: IParagraphOptions = {}): Paragraph =>
  new Paragraph({ ...options, children: inline(runs) });

function inline(runs: readonly Run[]): ParagraphChild[] {
  return runs.flatMap((run): ParagraphChild[] => {
    const written = textRuns(run);
    if (run.href === undefined) return written;
    return [new ExternalHyperlink({ link: run.href, children: written })];
  });
}

/** A line break is a run of its own. */
function textRuns({ text, bold, italic, underline, strike, code, color, background, href }: Run): TextRun[] {
  const options: IRunOptions = {
    ...(bold ? { bold } : {}),
    ...(italic ? { italics: italic } : {}),
    ...(underline ? { underline: {} } : {}),
    ...(strike ? { strike } : {}),
    ...(code ? { font: CODE_FONT, style: CODE_TEXT.id } : {}),
    ...(color === undefined ? {} : { color: color.slice(1) }),
    ...(background === undefined ? {} : { shading: { type: ShadingType.CLEAR, fill: background.slice(1) } }),
    ...(href === undefined ? {} : { style: "Hyperlink" }),
  };
  return text
    .split("\n")
    .map((line, at) => new TextRun({ ...options, text: line, ...(at > 0 ? { break: 1 } : {}) }));
}

function table({ columns, headerRows, rows }: Extract<Node, { kind: "table" }>): Table {
  return new Table({
    width: { size: TABLE_WIDTH, type: WidthType.DXA },
    columnWidths: Array.from({ length: Math.min(columns, 63) }, () => Math.floor(TABLE_WIDTH / columns)),
    rows: rows
      .filter((cells) => cells.length > 0)
      .map((cells, at) => new TableRow({ tableHeader: at < headerRows, children: cells.map(cell) })),
  });
}

function cell({ runs, isHeader, colspan, rowspan, background, align }: Cell): TableCell {
  const shown = isHeader ? runs.map((run) => ({ ...run, bold: true as const })) : runs;
  return new TableCell({
    columnSpan: colspan,
    rowSpan: rowspan,
    ...(background === undefined ? {} : { shading: { type: ShadingType.CLEAR, fill: background.slice(1) } }),
    children: [paragraph(shown, { alignment: ALIGNMENTS[align] })],
  });
}

function image(
  { image: { type, bytes }, alt, caption, width }: Extract<Node, { kind: "image" }>,
  indent: IParagraphOptions,
): Part[] {
  const office = officeImage(type);
  const shown =
    office === undefined
      ? new TextRun(alt || "image")
      : new ImageRun({
          type: office,
          data: Buffer.from(bytes),
          transformation: shownSize(bytes, width, PAGE_WIDTH),
          altText: { name: alt || "image", title: alt, description: alt },
        });
  const below = caption === "" ? [] : [paragraph([{ text: caption, italic: true }], indent)];
  return [new Paragraph({ ...indent, children: [shown] }), ...below];
}

function appendix(comments: readonly RenderedComment[], language: string): Part[] {
  if (comments.length === 0) return [];
  const written = comments.flatMap(({ author, at, text, isFirst, isResolved }) => {
    const indent = isFirst ? {} : { indent: { left: INDENT } };
    const head = [
      { text: author, bold: true as const },
      { text: ` ${at}${isResolved ? " ✓" : ""}`, color: GRAY },
    ];
    return [paragraph(head, indent), paragraph([{ text }], indent)];
  });
  return [paragraph([{ text: commentsTitle(language) }], { heading: HeadingLevel.HEADING_1 }), ...written];
}
