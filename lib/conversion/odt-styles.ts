/** Formatting that blocks can express; undefined where a style leaves it as it is. */
export interface OdtFormat {
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
  readonly code?: boolean;
}

/** What a paragraph is by its style. */
export interface OdtParagraphStyle {
  readonly kind: "normal" | "quote" | "code" | "line";
  /** The level of a heading that is one by its style only. */
  readonly headingLevel: number | undefined;
  readonly format: OdtFormat;
  readonly align: "center" | "right" | "justify" | undefined;
}

export interface OdtListLevel {
  readonly isOrdered: boolean;
  readonly start: number;
}

type Attributes = Readonly<Record<string, string>>;
interface Style {
  readonly names: readonly string[];
  readonly parent: string | undefined;
  /** Of one place in the document, as opposed to a style with a name. */
  readonly isAutomatic: boolean;
  format: OdtFormat;
  align: string | undefined;
  hasBorder: boolean;
}

const PARENTS_MAX = 20;
const LEVELS_MAX = 10;
const START_MAX = 1_000_000;
const BOLD_WEIGHT = 600;
/** Names that LibreOffice, Word and others give styles; spaces as they are shown. */
const KINDS: readonly (readonly [kind: OdtParagraphStyle["kind"], names: RegExp])[] = [
  ["quote", /^(?:quotations?|quote|intense quote|block text)$/i],
  ["code", /^(?:(?:html )?preformatted(?: text)?|source code|code|plain text|macro)$/i],
  ["line", /^horizontal line$/i],
];
const HEADING = /^(?:title|subtitle|heading ([1-9]))$/i;
const CODE_TEXT = /^(?:source text|html code|verbatim char|code char|teletype|code)$/i;
/** The style of paragraphs without another one. */
const EVERYTHING = /^(?:standard|default paragraph style)$/i;
const MONOSPACED = /\b(?:mono|monospace|courier|consolas|menlo|monaco)\b/i;
const ALIGNMENTS: Readonly<Record<string, OdtParagraphStyle["align"]>> = {
  center: "center",
  end: "right",
  right: "right",
  justify: "justify",
};

/** The styles of an OpenDocument text. Collects them from the elements of `styles.xml` and `content.xml`. */
export class OdtStyles {
  readonly #styles = new Map<string, Style>();
  readonly #lists = new Map<string, OdtListLevel[]>();
  readonly #fonts = new Map<string, boolean>();
  #isAutomatic = false;
  #style: Style | undefined;
  #list: OdtListLevel[] | undefined;

  /** Reads the start of an element. Fonts are declared before the styles that name them. */
  open(name: string, attributes: Attributes): void {
    switch (name) {
      case "office:automatic-styles":
        this.#isAutomatic = true;
        return;
      case "style:font-face": {
        const family = `${attributes["style:name"]} ${attributes["svg:font-family"]}`;
        const isFixed = attributes["style:font-pitch"] === "fixed" || MONOSPACED.test(family);
        this.#fonts.set(attributes["style:name"] ?? "", isFixed);
        return;
      }
      case "style:style":
        this.#style = this.#declare(attributes);
        return;
      case "style:text-properties":
        if (this.#style !== undefined) this.#style.format = this.#formatOf(attributes);
        return;
      case "style:paragraph-properties":
        if (this.#style === undefined) return;
        this.#style.align = attributes["fo:text-align"];
        this.#style.hasBorder = isBorder(attributes["fo:border-bottom"]);
        return;
      case "text:list-style":
        this.#list = [];
        this.#lists.set(attributes["style:name"] ?? "", this.#list);
        return;
      case "text:list-level-style-number":
        this.#addLevel(attributes, isNumbered(attributes));
        return;
      case "text:list-level-style-bullet":
      case "text:list-level-style-image":
        this.#addLevel(attributes, false);
    }
  }

  /** Reads the end of an element. */
  close(name: string): void {
    if (name === "office:automatic-styles") this.#isAutomatic = false;
    if (name === "style:style") this.#style = undefined;
    if (name === "text:list-style") this.#list = undefined;
  }

  /** The format of a span, with what its style inherits. */
  textFormat(name: string | undefined): OdtFormat {
    const chain = this.#chain("text", name);
    const isCode = chain.some(({ names }) => names.some((one) => CODE_TEXT.test(one)));
    const format = Object.assign({}, ...chain.map((style) => style.format).reverse());
    return isCode ? { ...format, code: true } : format;
  }

  /** The style of a paragraph. A style with a name decides on its kind, and one of its place on its format. */
  paragraph(name: string | undefined): OdtParagraphStyle {
    const chain = this.#chain("paragraph", name);
    const own = chain.filter(({ isAutomatic }) => isAutomatic);
    const found = KINDS.find(([, pattern]) =>
      chain.some(({ names }) => names.some((one) => pattern.test(one))),
    );
    const isCode = chain.some(
      ({ format, names }) => format.code === true && !names.some((one) => EVERYTHING.test(one)),
    );
    const format = Object.assign({}, ...own.map((style) => style.format).reverse());
    const heading = chain
      .flatMap(({ names }) => names)
      .map((one) => HEADING.exec(one))
      .find((match) => match !== null);
    const align = own.find((style) => style.align !== undefined)?.align ?? "";
    const hasLine = own.some(({ hasBorder }) => hasBorder);
    return {
      headingLevel: heading === undefined ? undefined : levelOf(heading),
      kind: found?.[0] ?? (isCode ? "code" : hasLine ? "line" : "normal"),
      format,
      align: Object.hasOwn(ALIGNMENTS, align) ? ALIGNMENTS[align] : undefined,
    };
  }

  /** A level of a list, from 1. */
  listLevel(name: string | undefined, level: number): OdtListLevel {
    const levels = this.#lists.get(name ?? "") ?? [];
    return levels[Math.min(level, LEVELS_MAX)] ?? { isOrdered: false, start: 1 };
  }

  #declare(attributes: Attributes): Style {
    const name = attributes["style:name"] ?? "";
    const style: Style = {
      names: [name, attributes["style:display-name"] ?? ""].map(shownName),
      parent: attributes["style:parent-style-name"],
      isAutomatic: this.#isAutomatic,
      format: {},
      align: undefined,
      hasBorder: false,
    };
    this.#styles.set(`${attributes["style:family"]} ${name}`, style);
    return style;
  }

  /** A style and those that it inherits from, in this order. */
  #chain(family: string, name: string | undefined): Style[] {
    const chain: Style[] = [];
    for (let at = name; at !== undefined && chain.length < PARENTS_MAX; ) {
      const style = this.#styles.get(`${family} ${at}`);
      // Some programs omit the styles that every program has.
      chain.push(style ?? { ...UNKNOWN, names: [shownName(at)] });
      at = style?.parent;
    }
    return chain;
  }

  #formatOf(attributes: Attributes): OdtFormat {
    const weight = attributes["fo:font-weight"];
    const slant = attributes["fo:font-style"];
    const underline = attributes["style:text-underline-style"];
    const strike = attributes["style:text-line-through-style"] ?? attributes["style:text-line-through-type"];
    const font = attributes["style:font-name"];
    const family = attributes["fo:font-family"];
    const isFixed =
      attributes["style:font-pitch"] === "fixed" ||
      (font !== undefined && (this.#fonts.get(font) ?? MONOSPACED.test(font))) ||
      (family !== undefined && MONOSPACED.test(family));
    return {
      ...(weight === undefined ? {} : { bold: weight === "bold" || Number(weight) >= BOLD_WEIGHT }),
      ...(slant === undefined ? {} : { italic: slant !== "normal" }),
      ...(underline === undefined ? {} : { underline: underline !== "none" }),
      ...(strike === undefined ? {} : { strike: strike !== "none" }),
      ...(font === undefined && family === undefined ? {} : { code: isFixed }),
    };
  }

  #addLevel(attributes: Attributes, isOrdered: boolean): void {
    const level = Number(attributes["text:level"]);
    if (this.#list === undefined || !(level >= 1 && level <= LEVELS_MAX)) return;
    this.#list[level] = { isOrdered, start: toStart(attributes["text:start-value"]) };
  }
}

const levelOf = ([name, level]: RegExpExecArray): number =>
  Number(level ?? (name.toLowerCase() === "title" ? 1 : 2));

const UNKNOWN: Style = {
  names: [],
  parent: undefined,
  isAutomatic: false,
  format: {},
  align: undefined,
  hasBorder: false,
};

/** The number that a list or an item begins with. */
export function toStart(text: string | undefined): number {
  const start = Number(text ?? 1);
  return Number.isInteger(start) && start >= 0 && start <= START_MAX ? start : 1;
}

/** A level without a format of numbers shows none. */
const isNumbered = (attributes: Attributes): boolean => (attributes["style:num-format"] ?? "") !== "";

const isBorder = (border: string | undefined): boolean => border !== undefined && border !== "none";

/** Names contain other characters as hexadecimal codes, such as `_20_`. */
const shownName = (name: string): string =>
  name.replace(/_([0-9a-f]{1,5})_/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
