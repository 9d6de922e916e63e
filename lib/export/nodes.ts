import { mentionText } from "../conversion/plain-blocks.ts";
import { type Block, type Inline, isLink, isText, type TableContent } from "../conversion/read-blocks.ts";
import { isSafeUrl } from "../conversion/sanitize.ts";
import { colorOf } from "./colors.ts";
import type { RenderedImage, Rendering } from "./rendering.ts";

/** Text with one style. A line break is `\n`. */
export interface Run {
  readonly text: string;
  readonly bold?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly strike?: true;
  readonly code?: true;
  /** `#rrggbb` */
  readonly color?: string;
  readonly background?: string;
  /** Absolute or relative; safe to follow. */
  readonly href?: string;
}

export type Alignment = "left" | "center" | "right" | "justify";

export interface Cell {
  readonly runs: readonly Run[];
  readonly isHeader: boolean;
  readonly colspan: number;
  readonly rowspan: number;
  readonly background?: string;
  readonly align: Alignment;
}

export interface Item {
  /** Of a checklist. */
  readonly isChecked?: boolean;
  readonly runs: readonly Run[];
  /** Of the item's own text. */
  readonly align: Alignment;
  readonly nodes: readonly Node[];
}

/** What every format can express; other blocks become those that come closest, and no text is lost. */
export type Node =
  | {
      readonly kind: "heading";
      readonly level: number;
      readonly runs: readonly Run[];
      readonly align: Alignment;
    }
  | { readonly kind: "paragraph" | "quote"; readonly runs: readonly Run[]; readonly align: Alignment }
  | {
      readonly kind: "callout";
      readonly emoji: string;
      readonly runs: readonly Run[];
      /** Of the callout's own text. */
      readonly align: Alignment;
      readonly nodes: readonly Node[];
    }
  | {
      readonly kind: "list";
      readonly type: "bullet" | "numbered" | "check";
      readonly start: number;
      readonly items: readonly Item[];
    }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | {
      readonly kind: "table";
      readonly columns: number;
      readonly headerRows: number;
      readonly rows: readonly (readonly Cell[])[];
    }
  | {
      readonly kind: "image";
      readonly image: RenderedImage;
      readonly alt: string;
      readonly caption: string /** Pixels. */;
      readonly width: number | undefined;
    }
  | {
      readonly kind: "file";
      readonly href: string;
      readonly name: string;
      readonly caption: string /** An image that is elsewhere. */;
      readonly isImage: boolean;
    }
  /** Blocks below another one. */
  | { readonly kind: "indented"; readonly nodes: readonly Node[] }
  | { readonly kind: "divider" | "pageBreak" };

const LISTS: Readonly<Record<string, "bullet" | "numbered" | "check">> = {
  bulletListItem: "bullet",
  numberedListItem: "numbered",
  checkListItem: "check",
  toggleListItem: "bullet",
};
/** Props that an editor shows as text, in order of preference. */
const TEXTS = ["title", "name", "text", "label", "information", "blockUploadName", "caption", "user"];
const ADDRESSES = ["url", "href", "blockUploadUrl"];
const ALIGNMENTS: readonly string[] = ["left", "center", "right", "justify"] satisfies Alignment[];
const HEADING_MAX = 6;
const SPAN_MAX = 60;

type Props = Readonly<Record<string, unknown>>;
const textOf = (value: unknown): string => (typeof value === "string" ? plain(value) : "");
const firstOf = (props: Props, names: readonly string[]): string =>
  names.map((name) => textOf(props[name])).find((text) => text !== "") ?? "";
const integer = (value: unknown, most: number): number =>
  Number.isInteger(value) && Number(value) > 0 ? Math.min(Number(value), most) : 1;

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML and Typst reject them
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]/g;
const plain = (text: string): string => text.replace(/\r\n?/g, "\n").replace(CONTROLS, "").toWellFormed();

/** Converts the blocks of a document. */
export function toNodes(rendering: Pick<Rendering, "blocks" | "images" | "documents" | "baseUrl">): Node[] {
  return new Writer(rendering).nodes(JSON.parse(rendering.blocks) as Block[]);
}

class Writer {
  readonly #given: Pick<Rendering, "images" | "documents" | "baseUrl">;

  constructor(given: Pick<Rendering, "images" | "documents" | "baseUrl">) {
    this.#given = given;
  }

  nodes(blocks: readonly Block[]): Node[] {
    const nodes: Node[] = [];
    for (let at = 0; at < blocks.length; ) {
      const type = listOf(blocks[at]);
      if (type === undefined) {
        nodes.push(...this.#block(blocks[at] as Block));
        at += 1;
        continue;
      }
      const first = blocks[at] as Block;
      const items: Item[] = [];
      do {
        items.push(this.#item(blocks[at] as Block, type));
        at += 1;
      } while (at < blocks.length && listOf(blocks[at]) === type && !("start" in restarted(blocks[at])));
      nodes.push({ kind: "list", type, start: integer(first.props["start"], 1_000_000), items });
    }
    return nodes;
  }

  #item({ props, content, children }: Block, type: "bullet" | "numbered" | "check"): Item {
    const item = {
      runs: this.#inline(content),
      align: alignmentOf(props["textAlignment"]),
      nodes: this.nodes(children),
    };
    return type === "check" ? { ...item, isChecked: props["checked"] === true } : item;
  }

  #block(block: Block): Node[] {
    const { type, props, content, children } = block;
    const below = this.nodes(children);
    const indented: Node[] = below.length === 0 ? [] : [{ kind: "indented", nodes: below }];
    const align = alignmentOf(props["textAlignment"]);
    const runs = this.#inline(content);
    switch (type) {
      case "heading":
        return [{ kind: "heading", level: integer(props["level"], HEADING_MAX), runs, align }, ...indented];
      case "paragraph":
        return [{ kind: "paragraph", runs, align }, ...indented];
      case "quote":
        return [{ kind: "quote", runs, align }, ...indented];
      case "callout":
        return [{ kind: "callout", emoji: textOf(props["emoji"]), runs, align, nodes: below }];
      case "codeBlock": {
        const text = runs.map((run) => run.text).join("");
        return [{ kind: "code", language: textOf(props["language"]).slice(0, 40), text }, ...indented];
      }
      case "table":
        return isTable(content) ? [...this.#table(content), ...indented] : indented;
      case "divider":
      case "pageBreak":
        return [{ kind: type }, ...asParagraph(runs), ...below];
      // Columns are read one after the other.
      case "columnList":
      case "column":
        return [...asParagraph(runs), ...below];
      default:
        return [...this.#other(block, runs), ...indented];
    }
  }

  /** An image, a file, or a block of an unknown type. */
  #other({ type, props }: Block, runs: readonly Run[]): Node[] {
    const url = firstOf(props, ADDRESSES);
    const caption = textOf(props["caption"]);
    const name = firstOf(props, TEXTS);
    const image = type === "image" ? this.#image(url) : undefined;
    if (image !== undefined) {
      const width = Number(props["previewWidth"]);
      const alt = textOf(props["alt"]) || caption || textOf(props["name"]);
      return [
        {
          kind: "image",
          image,
          alt,
          caption,
          width: Number.isFinite(width) && width > 0 ? Math.min(width, 10_000) : undefined,
        },
        ...asParagraph(runs),
      ];
    }
    if (url !== "") {
      const href = this.#href(url);
      const file: Node =
        href === undefined
          ? { kind: "paragraph", runs: [{ text: name || caption || type }], align: "left" }
          : {
              kind: "file",
              href,
              name: name || url,
              caption: caption === name ? "" : caption,
              isImage: type === "image",
            };
      return [file, ...asParagraph(runs)];
    }
    if (runs.length > 0) return asParagraph(runs);
    return name === "" ? [] : asParagraph([{ text: name }]);
  }

  /** An attachment, or an image in its URL. */
  #image(url: string): RenderedImage | undefined {
    const [, type, base64] = DATA_URL.exec(url) ?? [];
    if (type !== undefined && base64 !== undefined)
      return { type: type.toLowerCase(), bytes: Buffer.from(base64, "base64") };
    return this.#given.images.get(mediaKeyOf(url) ?? "");
  }

  #table({ rows, headerRows = 0, headerCols = 0 }: TableContent): Node[] {
    if (rows.length === 0) return [];
    const cells = rows.map(({ cells: given }, row) =>
      given.map((cell, column): Cell => {
        const background = colorOf(cell.props["backgroundColor"], "background");
        return {
          runs: this.#inline(cell.content),
          isHeader: row < headerRows || column < headerCols,
          colspan: integer(cell.props["colspan"], SPAN_MAX),
          rowspan: integer(cell.props["rowspan"], rows.length - row),
          ...(background === undefined ? {} : { background }),
          align: alignmentOf(cell.props["textAlignment"]),
        };
      }),
    );
    const columns = columnsOf(cells);
    return columns === 0
      ? []
      : [{ kind: "table", columns, headerRows: Math.min(headerRows, rows.length), rows: cells }];
  }

  #inline(content: Block["content"]): Run[] {
    if (content === undefined || isTable(content)) return [];
    return content.flatMap((inline) => this.#runs(inline));
  }

  #runs(inline: Inline): Run[] {
    if (isLink(inline)) {
      const href = this.#href(inline.href);
      return inline.content.flatMap((text) =>
        this.#runs(text).map((run) => (href === undefined ? run : { ...run, href })),
      );
    }
    if (isText(inline)) return styled(inline.text, inline.styles);
    if (inline.content !== undefined) return inline.content.flatMap((one) => this.#runs(one));
    const { docId } = inline.props;
    const linked = typeof docId === "string" ? this.#given.documents.get(docId.toLowerCase()) : undefined;
    if (linked !== undefined) return [{ text: plain(linked.title), href: linked.url }];
    // The title of another document is not in the text of this one: a reader may not see it.
    const url =
      firstOf(inline.props, ADDRESSES) ||
      (typeof docId === "string" && docId !== "" ? `/docs/${docId}/` : "");
    const text = plain(mentionText(inline)) || firstOf(inline.props, TEXTS) || url;
    const href = url === "" ? undefined : this.#href(url);
    if (text === "") return [];
    return [href === undefined ? { text } : { text, href }];
  }

  /** A URL to follow from the exported file; undefined if it is unsafe. Links to known documents get their new URL. */
  #href(url: string): string | undefined {
    const { baseUrl, documents } = this.#given;
    const trimmed = plain(url).trim();
    if (trimmed === "" || !isSafeUrl(trimmed) || /^data:/i.test(trimmed)) return undefined;
    const linked = documents.get(documentIdOf(trimmed, baseUrl) ?? "");
    if (linked !== undefined) return linked.url;
    return trimmed.startsWith("/") && !trimmed.startsWith("//") ? `${baseUrl}${trimmed}` : trimmed;
  }
}

/** The page of a document in the editor. */
const DOCUMENT_URL = /^(https?:\/\/[^/?#]+)?\/docs\/([0-9a-f-]{36})\/?(?:[?#].*)?$/i;

const MEDIA_URL = /\/media\/([0-9a-f-]{36}\/attachments\/[^/?#\s]+)(?:[?#].*)?$/i;
const DATA_URL = /^data:(image\/(?:png|jpeg|gif|webp));base64,([a-z0-9+/=]+)$/i;

/** The key of the attachment that a URL names, in lower case. */
export const mediaKeyOf = (url: string): string | undefined => MEDIA_URL.exec(url)?.[1]?.toLowerCase();

/** The id of the document whose page a URL is. */
export function documentIdOf(url: string, baseUrl: string): string | undefined {
  const [, base, id] = DOCUMENT_URL.exec(url) ?? [];
  return base === undefined || base === "" || base === baseUrl ? id?.toLowerCase() : undefined;
}

const isTable = (content: Block["content"]): content is TableContent =>
  content !== undefined && !Array.isArray(content);

const listOf = (block: Block | undefined) =>
  block !== undefined && Object.hasOwn(LISTS, block.type) ? LISTS[block.type] : undefined;

/** Whether a numbered item begins a new list. */
const restarted = (block: Block | undefined): Props =>
  typeof block?.props["start"] === "number" ? { start: block.props["start"] } : {};

const asParagraph = (runs: readonly Run[]): Node[] =>
  runs.length === 0 ? [] : [{ kind: "paragraph", runs, align: "left" }];

const alignmentOf = (value: unknown): Alignment =>
  ALIGNMENTS.includes(value as string) ? (value as Alignment) : "left";

function styled(text: string, styles: Props): Run[] {
  const shown = plain(text);
  if (shown === "") return [];
  const color = colorOf(styles["textColor"], "text");
  const background = colorOf(styles["backgroundColor"], "background");
  const flags = ["bold", "italic", "underline", "strike", "code"].filter((name) => styles[name] === true);
  return [
    {
      text: shown,
      ...Object.fromEntries(flags.map((name) => [name, true])),
      ...(color === undefined ? {} : { color }),
      ...(background === undefined ? {} : { background }),
    },
  ];
}

/** Number of columns, with cells that span rows and columns. Removes nothing. */
function columnsOf(rows: readonly (readonly Cell[])[]): number {
  const taken: number[] = [];
  let columns = 0;
  for (const row of rows) {
    let at = 0;
    for (const { colspan, rowspan } of row) {
      while ((taken[at] ?? 0) > 0) at += 1;
      for (let one = at; one < at + colspan; one += 1) taken[one] = rowspan;
      at += colspan;
    }
    columns = Math.max(columns, taken.length);
    for (let one = 0; one < taken.length; one += 1) taken[one] = Math.max(0, (taken[one] ?? 0) - 1);
  }
  return columns;
}
