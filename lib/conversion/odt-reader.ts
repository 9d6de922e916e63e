import { ArchiveError } from "../archives/read-zip.ts";
import { escapeHtml } from "../escape-html.ts";
import { collectImages, type ImageCollector } from "./embedded-images.ts";
import {
  type Context,
  closeList,
  closeLists,
  codeBlock,
  flushCode,
  newContext,
  openList,
} from "./odt-context.ts";
import { addText, collapseSpaces, newParagraph, type Paragraph, paragraphHtml } from "./odt-paragraph.ts";
import { SKIPPED_ELEMENTS } from "./odt-skipped.ts";
import { type OdtFormat, type OdtStyles, toStart } from "./odt-styles.ts";
import { type OfficePage, toSkipped } from "./office-parts.ts";

/** An address outside the file. */
const LINKED = /^(?:[a-z][a-z0-9+.-]*:|\.\.\/)/i;
const DEPTH_MAX = 200;
const HTML_MAX_LENGTH = 32 * 1024 * 1024;
const SPACES_MAX = 1_000;
const SPAN_MAX = 100;
type Attributes = Readonly<Record<string, string>>;
/** Receives the elements of an XML part. */
export interface Elements {
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  text(text: string): void;
}

interface Frame {
  image: Buffer | "linked" | undefined;
  alt: string;
}

/** Writes the content as HTML, which the editor's own reader then turns into blocks. */
export class OdtReader implements Elements {
  readonly #styles: OdtStyles;
  readonly #parts: ReadonlyMap<string, Buffer>;
  readonly #images: ImageCollector = collectImages();
  readonly #skipped = new Set<string>();
  readonly #contexts: Context[] = [newContext()];
  readonly #paragraphs: Paragraph[] = [];
  readonly #formats: OdtFormat[] = [];
  readonly #frames: Frame[] = [];
  readonly #links: boolean[] = [];
  readonly #notes: string[] = [];
  /** Numbers with which lists end that another one may continue, by style. */
  readonly #ends = new Map<string, number>();
  #depth = 0;
  #skippedDepth = 0;
  #length = 0;
  #tables = 0;
  #isHeader = false;
  /** The text of the element that is being read, if it is not content. */
  #captured: string | undefined;

  constructor(styles: OdtStyles, parts: ReadonlyMap<string, Buffer>) {
    this.#styles = styles;
    this.#parts = parts;
  }

  page(): OfficePage {
    const [document = newContext()] = this.#contexts;
    closeLists(document);
    return {
      html: document.html + this.#notes.join(""),
      files: this.#images.files,
      skipped: toSkipped([...this.#images.skipped, ...this.#skipped]),
    };
  }

  open(name: string, attributes: Attributes): void {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new ArchiveError("The document is nested too deeply.");
    if (this.#skippedDepth > 0) {
      this.#skippedDepth += 1;
      return;
    }
    if (Object.hasOwn(SKIPPED_ELEMENTS, name)) {
      this.#skippedDepth = 1;
      const message = SKIPPED_ELEMENTS[name];
      if (message !== undefined) this.#skipped.add(message);
      return;
    }
    this.#styles.open(name, attributes);
    this.#openElement(name, attributes);
  }

  close(name: string): void {
    this.#depth -= 1;
    if (this.#skippedDepth > 0) {
      this.#skippedDepth -= 1;
      return;
    }
    this.#styles.close(name);
    this.#closeElement(name);
  }

  text(text: string): void {
    if (this.#skippedDepth > 0) return;
    if (this.#captured !== undefined) this.#captured += text;
    else this.#add(collapseSpaces(text, this.#paragraphs.at(-1)));
  }

  #openElement(name: string, attributes: Attributes): void {
    switch (name) {
      case "text:h":
      case "text:p":
        this.#openParagraph(name, attributes);
        return;
      case "text:span":
        this.#formats.push(this.#styles.textFormat(attributes["text:style-name"]));
        return;
      case "text:a":
        this.#openLink(attributes["xlink:href"] ?? "");
        return;
      case "text:s":
        this.#add(" ".repeat(toCount(attributes["text:c"], SPACES_MAX)));
        return;
      case "text:tab":
        this.#add("\t");
        return;
      case "text:line-break":
        this.#add("\n");
        return;
      case "text:list":
        this.#openList(attributes);
        return;
      case "text:list-item":
        this.#openItem(attributes);
        return;
      case "table:table":
        this.#tables += 1;
        this.#table("<table>");
        return;
      case "table:table-header-rows":
        this.#isHeader = true;
        return;
      case "table:table-row":
        this.#table("<tr>");
        return;
      case "table:table-cell":
        this.#openCell(attributes);
        return;
      case "text:note":
        this.#add(`[${this.#notes.length + 1}]`);
        return;
      case "text:note-body":
      case "draw:text-box":
        this.#contexts.push(newContext());
        return;
      case "draw:frame":
        this.#frames.push({ image: undefined, alt: "" });
        return;
      case "draw:image":
        this.#readImage(attributes["xlink:href"] ?? "");
        return;
      case "svg:title":
      case "svg:desc":
      case "office:binary-data":
        this.#captured = "";
    }
  }

  #closeElement(name: string): void {
    switch (name) {
      case "text:h":
      case "text:p":
        this.#closeParagraph();
        return;
      case "text:span":
        this.#formats.pop();
        return;
      case "text:a": {
        const paragraph = this.#paragraphs.at(-1);
        if (this.#links.pop() === true && paragraph !== undefined) paragraph.html += "</a>";
        return;
      }
      case "text:list":
        this.#closeList();
        return;
      case "table:table":
        this.#table("</table>");
        this.#tables -= 1;
        return;
      case "table:table-header-rows":
        this.#isHeader = false;
        return;
      case "table:table-row":
        this.#table("</tr>");
        return;
      case "table:table-cell":
        this.#closeCell();
        return;
      case "text:note-body": {
        const number = this.#notes.length + 1;
        this.#notes.push(this.#closeContext().replace(/^<p[^>]*>/, (tag) => `${tag}[${number}] `));
        return;
      }
      case "draw:text-box": {
        const html = this.#closeContext();
        const anchor = this.#paragraphs.at(-1);
        if (anchor === undefined) this.#block(html);
        else anchor.after += html;
        return;
      }
      case "draw:frame":
        this.#closeFrame();
        return;
      case "svg:title":
      case "svg:desc": {
        const frame = this.#frames.at(-1);
        const text = this.#captured?.trim() ?? "";
        if (frame !== undefined && text !== "") frame.alt = text;
        this.#captured = undefined;
        return;
      }
      case "office:binary-data": {
        const frame = this.#frames.at(-1);
        if (frame !== undefined) frame.image = Buffer.from(this.#captured ?? "", "base64");
        this.#captured = undefined;
      }
    }
  }

  #openParagraph(name: string, attributes: Attributes): void {
    const style = this.#styles.paragraph(attributes["text:style-name"]);
    const level = name === "text:h" ? Number(attributes["text:outline-level"] ?? 1) : style.headingLevel;
    this.#paragraphs.push(newParagraph(style, level, this.#contexts.length, this.#formats.length));
    // Headings are bold by themselves.
    this.#formats.push(level === undefined ? style.format : {});
  }

  #closeParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    this.#formats.pop();
    if (paragraph === undefined) return;
    const { tag, after, hasImage } = paragraph;
    const plain = paragraph.plain.trimEnd();
    const isEmpty = plain.trim() === "" && !hasImage;
    const mayBeCode = !hasImage && this.#tables === 0;
    const isAllCode = paragraph.isAllCode && !isEmpty && tag === "p" && this.#current.lists.length === 0;
    if (mayBeCode && paragraph.isCode) this.#current.code.push(plain);
    else if (mayBeCode && isAllCode) this.#block(codeBlock(plain));
    else if (!isEmpty) this.#block(paragraphHtml(paragraph), tag.startsWith("h"));
    else if (paragraph.isLine) this.#block("<hr>");
    if (after !== "") this.#block(after);
  }

  /** Adds text to the paragraph with the formats of its spans. */
  #add(text: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph === undefined || paragraph.depth !== this.#contexts.length || text === "") return;
    const format: OdtFormat = Object.assign({}, ...this.#formats.slice(paragraph.formats));
    // Links are underlined by their style.
    const html = addText(
      paragraph,
      text,
      this.#links.includes(true) ? { ...format, underline: false } : format,
    );
    this.#grow(html);
  }

  #openLink(href: string): void {
    const paragraph = this.#paragraphs.at(-1);
    // What is marked in the document has no address in ours.
    const isWritten = paragraph !== undefined && href !== "" && !href.startsWith("#");
    this.#links.push(isWritten);
    if (isWritten) paragraph.html += `<a href="${escapeHtml(href)}">`;
  }

  #openList(attributes: Attributes): void {
    const { lists } = this.#current;
    const style = attributes["text:style-name"] ?? lists.at(-1)?.style;
    const { isOrdered, start } = this.#styles.listLevel(style, lists.length + 1);
    const isContinued =
      attributes["text:continue-numbering"] === "true" || attributes["text:continue-list"] !== undefined;
    const end = isContinued ? this.#ends.get(endKey(style, lists.length)) : undefined;
    lists.push({
      style,
      isOrdered,
      start: end === undefined ? start : end + 1,
      isOpen: false,
      hasItem: false,
      isUsed: false,
    });
  }

  #openItem(attributes: Attributes): void {
    const list = this.#current.lists.at(-1);
    if (list === undefined) return;
    flushCode(this.#current);
    if (list.hasItem) this.#current.html += "</li>";
    const start = attributes["text:start-value"];
    if (start !== undefined && !list.isOpen) list.start = toStart(start);
    list.hasItem = false;
  }

  #closeList(): void {
    const { lists } = this.#current;
    const list = lists.at(-1);
    if (list === undefined) return;
    closeList(this.#current, list);
    lists.pop();
    if (list.isUsed) this.#ends.set(endKey(list.style, lists.length), list.start - 1);
  }

  #openCell(attributes: Attributes): void {
    if (this.#tables > 1) return;
    const tag = this.#isHeader ? "th" : "td";
    const span = (name: string, given: string | undefined): string => {
      const count = toCount(given, SPAN_MAX);
      return count === 1 ? "" : ` ${name}="${count}"`;
    };
    const columns = span("colspan", attributes["table:number-columns-spanned"]);
    this.#table(`<${tag}${columns}${span("rowspan", attributes["table:number-rows-spanned"])}>`);
    this.#contexts.push(newContext());
  }

  #closeCell(): void {
    if (this.#tables > 1) return;
    const html = this.#closeContext();
    this.#table(`${html}</${this.#isHeader ? "th" : "td"}>`);
  }

  /** Adds a part of a table; a table within a cell becomes paragraphs of the cell. */
  #table(html: string): void {
    if (this.#tables === 1) this.#block(html, true);
  }

  #readImage(href: string): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined || frame.image instanceof Buffer) return;
    frame.image = this.#parts.get(href.replace(/^\.\//, "")) ?? (LINKED.test(href) ? "linked" : undefined);
  }

  #closeFrame(): void {
    const frame = this.#frames.pop();
    if (frame?.image === "linked") this.#skipped.add("A linked image");
    if (!(frame?.image instanceof Buffer)) return;
    const url = this.#images.add(frame.image);
    if (url === "") return;
    const html = `<img src="${url}" alt="${escapeHtml(frame.alt)}">`;
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph === undefined || paragraph.depth !== this.#contexts.length) this.#block(`<p>${html}</p>`);
    else {
      paragraph.html += html;
      paragraph.hasImage = true;
    }
  }

  get #current(): Context {
    return this.#contexts.at(-1) ?? newContext();
  }

  #closeContext(): string {
    const context = this.#contexts.length > 1 ? this.#contexts.pop() : undefined;
    if (context === undefined) return "";
    closeLists(context);
    return context.html;
  }

  /** Adds a block where the document is at: in an item of a list, which begins with its first block, or outside. */
  #block(html: string, isOutsideLists = false): void {
    const context = this.#current;
    if (isOutsideLists) closeLists(context);
    else {
      flushCode(context);
      for (const list of context.lists) openList(context, list);
    }
    context.html += html;
    this.#grow(html);
  }

  #grow({ length }: string): void {
    this.#length += length;
    if (this.#length > HTML_MAX_LENGTH)
      throw new ArchiveError("The document contains more text than can be imported.");
  }
}

const endKey = (style: string | undefined, level: number): string => `${level} ${style ?? ""}`;

function toCount(text: string | undefined, max: number): number {
  const count = Number(text ?? 1);
  return Number.isInteger(count) && count > 1 ? Math.min(count, max) : 1;
}
